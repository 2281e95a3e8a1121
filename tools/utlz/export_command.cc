#include <cinttypes>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "tools/export/trace_export.h"
#include "tools/utlz/choice.h"
#include "tools/utlz/command.h"

namespace utlz {
namespace {

struct ExportArguments {
  std::string profile;
  std::string output;
  TraceFormat format = TraceFormat::kPerfetto;
};

int RunExport(const ExportArguments& arguments) {
  const absl::StatusOr<TraceExportResult> result =
      ExportTrace(arguments.profile, arguments.format, arguments.output);
  if (!result.ok()) {
    std::fprintf(stderr, "utlz: %s\n", std::string(result.status().message()).c_str());
    return kFailure;
  }
  std::fprintf(stderr,
               "utlz: %s: %" PRIu64 " kernels, %" PRIu64 " copies, %" PRIu64 " NVTX ranges, %" PRIu64
               " counter values; open it in ui.perfetto.dev\n",
               arguments.output.c_str(), result->kernels, result->copies, result->markers,
               result->counter_values);
  return kSuccess;
}

}  // namespace

void AddExportCommand(CLI::App* program, Action* action) {
  const auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command = program->add_subcommand("export", "Write a trace for other viewers");
  command->add_option("FILE", arguments->profile, "A profile (.utlz)")->required()->type_name("");
  command->add_option("-o", arguments->output, "Where to")->required()->type_name("FILE");
  const std::map<std::string, TraceFormat> formats = {{"perfetto", TraceFormat::kPerfetto},
                                                      {"chrome", TraceFormat::kChrome}};
  command->add_option("--format", arguments->format, "perfetto or chrome")
      ->transform(Choice(formats))
      ->type_name("WORD");
  command->callback(
      [arguments, action] { *action = [arguments] { return RunExport(*arguments); }; });
}

}  // namespace utlz
