#include <cmath>
#include <memory>

#include "tools/attach_session/attach.h"
#include "tools/run/say.h"
#include "tools/utlz/command.h"
#include "tools/utlz/option_checks.h"
#include "tools/utlz/recording_arguments.h"

namespace utlz {
namespace {

constexpr double kMostAttachedSeconds = 1e6;
constexpr int kMaxPid = 1 << 22;  // the kernel's own limit

struct AttachArguments {
  AttachOptions options;
  RecordingArguments recording;
  double duration_s = 10;
};

int RunAttach(AttachArguments* arguments) {
  AttachOptions& options = arguments->options;
  const absl::Status read = ReadRecordingArguments(arguments->recording, &options.recording);
  if (!read.ok()) {
    return Fail(read, kUsageError);
  }
  options.duration_ms = static_cast<uint64_t>(std::llround(arguments->duration_s * 1e3));
  return AttachToProcesses(options);
}

}  // namespace

void AddAttachCommand(CLI::App* program, Action* action) {
  const auto arguments = std::make_shared<AttachArguments>();
  CLI::App* attach =
      program->add_subcommand("attach", "Profile processes that are running already");
  attach->add_option("PID", arguments->options.pids, "Processes, by number")
      ->required()
      ->check(NumberRange(1, kMaxPid))
      ->type_name("");
  attach->add_flag("--all", arguments->options.all,
                   "Also every other CUDA process of their server: children, and their group");
  attach->add_option("--duration", arguments->duration_s, "Record for this many seconds")
      ->check(NumberRange(0.001, kMostAttachedSeconds))
      ->type_name("SECONDS")
      ->capture_default_str();
  attach
      ->add_option("--stop-limit", arguments->options.stop_limit_ms,
                   "Milliseconds that one thread may stand still before the agent is loaded")
      ->check(NumberRange(1, 10'000))
      ->type_name("MS")
      ->capture_default_str();
  AddRecordingOptions(attach, "Profile to write; default utlz-<name>-<pid>-<date>-<pid>-….utlz",
                      &arguments->recording, &arguments->options.recording);
  attach->callback(
      [arguments, action] { *action = [arguments] { return RunAttach(arguments.get()); }; });
}

}  // namespace utlz
