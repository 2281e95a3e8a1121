#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/collector_service/service_socket.h"
#include "tools/run/run.h"
#include "tools/run/say.h"
#include "tools/utlz/command.h"
#include "tools/utlz/option_checks.h"
#include "tools/utlz/recording_arguments.h"
#include "tools/utlz/terminal.h"

namespace utlz {
namespace {

constexpr char kPreload[] = "--preload";
constexpr char kCupti[] = "--cupti";
constexpr char kCollector[] = "--collector";

struct RunArguments {
  RunOptions options;
  RecordingArguments recording;
  double delay_s = 0;
  double duration_s = 0;
};

CLI::Validator SecondsRange() { return NumberRange(0.0, kMaxSeconds); }

uint64_t WholeMilliseconds(double seconds) {
  return static_cast<uint64_t>(std::llround(seconds * 1e3));
}

// The command is no argument of CLI11's, which would look for options in it.
class RunFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: utlz run [OPTIONS] [--] COMMAND…\n";
  }
};

// The name of an option that makes no sense beside `alone`, if there is one.
std::optional<std::string> GivenWith(const char* alone, const CLI::App& subcommand) {
  if (subcommand.count(alone) == 0) return std::nullopt;
  for (const CLI::Option* option : subcommand.get_options()) {
    if (option->check_name(alone) || option->check_name(kCupti)) continue;
    if (option->count() > 0) return option->get_name();
  }
  return std::nullopt;
}

// False with a message where `place` is none; one that nobody serves yet may be served later.
bool FindCollector(std::string* place) {
  const absl::StatusOr<std::string> path =
      *place == "default" ? DefaultServiceSocket() : ServiceSocketPath(*place);
  if (!path.ok()) {
    return Fail(path.status(), false);
  }
  if (!ServiceListens(*path)) {
    std::fprintf(stderr,
                 "utlz: no collector of root's or yours listens at %s; the command is recorded "
                 "once one does\n",
                 path->c_str());
  }
  *place = "unix:" + *path;
  return true;
}

int Run(const CLI::App& subcommand, const std::vector<std::string>& command,
        RunArguments* arguments) {
  RunOptions& options = arguments->options;
  options.command = command;
  options.message_columns = ColumnsFor(STDERR_FILENO, options.message_columns);
  if (options.command.empty()) {
    std::fprintf(stderr, "utlz: which command? utlz run [OPTIONS] [--] COMMAND…\n");
    return kRunFailed;
  }
  if (const std::optional<std::string> other = GivenWith(kPreload, subcommand)) {
    std::fprintf(stderr, "utlz: --preload records nothing, so %s does not go with it\n",
                 other->c_str());
    return kRunFailed;
  }
  if (const std::optional<std::string> other = GivenWith(kCollector, subcommand)) {
    std::fprintf(stderr,
                 "utlz: the collector decides how it records, so %s goes to utlz collector\n",
                 other->c_str());
    return kRunFailed;
  }
  if (subcommand.count(kCollector) > 0 && !FindCollector(&options.collector)) return kRunFailed;
  const absl::Status read = ReadRecordingArguments(arguments->recording, &options.recording);
  if (!read.ok()) {
    return Fail(read, kRunFailed);
  }
  options.delay_ms = WholeMilliseconds(arguments->delay_s);
  if (subcommand.count("--duration") > 0)
    options.duration_ms = WholeMilliseconds(arguments->duration_s);
  return RunCommand(options);
}

}  // namespace

CLI::App* AddRunCommand(CLI::App* program, const std::vector<std::string>* words, Action* action) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* run = program->add_subcommand("run", "Run a command and profile its use of the GPU");
  run->footer("The command follows the options: utlz run -o a.utlz -- python train.py");
  run->add_option("--delay", arguments->delay_s, "Begin to trace after this many seconds")
      ->check(SecondsRange())
      ->type_name("SECONDS");
  run->add_option("--duration", arguments->duration_s, "Trace for this many seconds")
      ->check(SecondsRange())
      ->type_name("SECONDS");
  AddRecordingOptions(run, "Profile to write; default utlz-<command>-<date>-<pid>-….utlz",
                      &arguments->recording, &arguments->options.recording);
  run->add_flag(kPreload, arguments->options.preload,
                "Load an agent that is inactive until utlz attach needs it; takes --cupti alone");
  run->add_option(kCollector, arguments->options.collector,
                  "Leave the recording to the utlz collector at unix:PATH, or at its default place")
      ->type_name("PLACE");
  const auto formatter = std::make_shared<RunFormatter>();
  formatter->column_width(program->get_formatter()->get_column_width());
  run->formatter(formatter);
  run->callback([run, words, arguments, action] {
    *action = [run, words, arguments] { return Run(*run, *words, arguments.get()); };
  });
  return run;
}

}  // namespace utlz
