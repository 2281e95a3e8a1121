#include <cinttypes>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "tools/export/trace_export.h"
#include "tools/run/say.h"
#include "tools/utlz/command.h"
#include "tools/utlz/option_checks.h"

namespace utlz {
namespace {

struct ExportArguments {
  std::string profile;
  std::string output;
  TraceFormat format = TraceFormat::kPerfetto;
  TraceExportOptions options;
  bool no_counters = false;
  bool no_paths = false;
};

int RunExport(const ExportArguments& arguments) {
  TraceExportOptions options = arguments.options;
  options.counters = !arguments.no_counters;
  options.paths = !arguments.no_paths;
  const absl::StatusOr<TraceExportResult> result =
      ExportTrace(arguments.profile, arguments.format, arguments.output, options);
  if (!result.ok()) {
    return Fail(result.status(), kFailure);
  }
  std::fprintf(stderr, "utlz: %s: %" PRIu64 " kernels, %" PRIu64 " copies, %" PRIu64 " NVTX ranges",
               arguments.output == kStandardOutput ? "standard output" : arguments.output.c_str(),
               result->kernels, result->copies, result->markers);
  if (arguments.format == TraceFormat::kPprof) {
    std::fprintf(stderr, "; open it with go tool pprof, or in speedscope\n");
  } else {
    std::fprintf(stderr, ", %" PRIu64 " counter values; open it in ui.perfetto.dev\n",
                 result->counter_values);
  }
  const bool empty =
      result->kernels + result->copies + result->markers + result->counter_values == 0;
  if (empty && (options.from_s.has_value() || options.to_s.has_value())) {
    std::fprintf(stderr,
                 "utlz: nothing was recorded between --from and --to: they are seconds of the run, "
                 "whose length utlz report tells\n");
  }
  return kSuccess;
}

}  // namespace

void AddExportCommand(CLI::App* program, Action* action) {
  const auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command = program->add_subcommand("export", "Write a trace for other viewers");
  command->add_option("FILE", arguments->profile, "A profile (.utlz)")->required()->type_name("");
  command->add_option("-o", arguments->output, "Output file; - is standard output")
      ->required()
      ->type_name("FILE");
  const std::map<std::string, TraceFormat> formats = {{"perfetto", TraceFormat::kPerfetto},
                                                      {"chrome", TraceFormat::kChrome},
                                                      {"pprof", TraceFormat::kPprof}};
  command->add_option("--format", arguments->format, "perfetto, chrome or pprof")
      ->transform(Choice(formats))
      ->type_name("WORD");
  command
      ->add_option("--from", arguments->options.from_s,
                   "Leave out what ended before this second of the run")
      ->check(NumberRange(0.0, 1e9))
      ->type_name("S");
  command
      ->add_option("--to", arguments->options.to_s, "Leave out what began at this second or later")
      ->check(NumberRange(0.0, 1e9))
      ->type_name("S");
  command->add_flag("--no-counters", arguments->no_counters, "Kernels, copies and ranges alone");
  command->add_flag("--no-paths", arguments->no_paths, "Leave the folders of source files out");
  command->add_flag("--force", arguments->options.replace, "Replace the output file");
  command->callback(
      [arguments, action] { *action = [arguments] { return RunExport(*arguments); }; });
}

}  // namespace utlz
