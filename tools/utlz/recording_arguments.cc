#include "tools/utlz/recording_arguments.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>

#include "collector/history/history_store.h"
#include "tools/history_report/amounts.h"
#include "tools/run/overhead_budget.h"
#include "tools/utlz/alert_options.h"
#include "tools/utlz/option_checks.h"
#include "tools/utlz/print_report.h"
#include "tools/utlz/workload_spec_options.h"

namespace utlz {

namespace {

// Turns a size into its number of bytes.
CLI::Validator SizeOption() {
  const auto replace = [](std::string& text) -> std::string {
    const std::optional<uint64_t> bytes = ParseSize(text);
    if (!bytes || *bytes < HistoryStore::kLeastBytes) {
      return "'" + text + "' must be a size of at least 1MiB, as 512MiB or 2GB";
    }
    text = std::to_string(*bytes);
    return {};
  };
  return CLI::Validator(replace, "", "size");
}

void AddCounterOptions(CLI::App* command, RecordingArguments* arguments,
                       RecordingOptions* options) {
  const std::map<std::string, CountersMode> modes = {{"auto", CountersMode::kAuto},
                                                     {"sample", CountersMode::kSample},
                                                     {"range", CountersMode::kRange},
                                                     {"none", CountersMode::kNone}};
  command
      ->add_option("--counters", options->counters,
                   "Where FLOPs and bytes come from: auto, sample, range or none")
      ->transform(Choice(modes))
      ->type_name("MODE");
  command
      ->add_option("--overhead-budget", arguments->overhead_budget,
                   "By how much the job may be slowed: a percentage, or unlimited")
      ->type_name("SHARE")
      ->capture_default_str();
  command
      ->add_option("--cupti", options->cupti_path,
                   "The libcupti to trace and count with, even before the program's own")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
}

void AddMetricsOptions(CLI::App* command, RecordingOptions* options) {
  command
      ->add_option("--metrics", options->metrics.place,
                   "Show metrics for Prometheus at PORT (of 127.0.0.1), ADDRESS:PORT or unix:PATH")
      ->type_name("PLACE");
  command
      ->add_option("--metrics-file", options->metrics.file,
                   "Keep metrics in this file, for node_exporter's textfile collector")
      ->type_name("FILE");
  command
      ->add_option("--history", options->history_folder,
                   "Keep what each minute was worth in this folder, for utlz report --since")
      ->type_name("FOLDER");
  command
      ->add_option("--history-size", options->history_bytes,
                   "What that folder may take, as 512MiB; default 1GiB")
      ->transform(SizeOption())
      ->type_name("SIZE");
  command
      ->add_option(
          "--otlp", options->metrics.otlp,
          "Send metrics by OTLP to http://ADDRESS:PORT; env: where OTEL_EXPORTER_OTLP_… say")
      ->type_name("URL");
  command->add_flag("--alarms", options->metrics.alarms,
                    "Say and record when the job falls behind its own past, hangs or stands idle");
}

}  // namespace

void AddRecordingOptions(CLI::App* command, const std::string& output,
                         RecordingArguments* arguments, RecordingOptions* options) {
  command->add_option("-o,--output", options->output, output)->type_name("FILE");
  AddCounterOptions(command, arguments, options);
  command->add_flag("--no-report", arguments->no_report, "Write the profile and print no report");
  command->add_flag("--nvtx", options->nvtx, "Record NVTX ranges too");
  command->add_flag("--no-new-work", arguments->no_new_work,
                    "Under a budget, start no extra tracing when new kernels appear");
  const std::map<std::string, LaterWindowsMode> later = {{"auto", LaterWindowsMode::kAuto},
                                                         {"always", LaterWindowsMode::kAlways},
                                                         {"never", LaterWindowsMode::kNever}};
  command
      ->add_option("--later-windows", options->later_windows,
                   "Record kernels again after the start: auto, always or never (see the manual)")
      ->transform(Choice(later))
      ->type_name("MODE");
  const std::map<std::string, bool> stacks = {{"auto", true}, {"off", false}};
  command
      ->add_option(
          "--stacks", options->stacks,
          "Read which Python line launches each kernel: auto (of CPython 3.11 to 3.14), off")
      ->transform(Choice(stacks))
      ->type_name("MODE");
  command->add_flag("--idle-stacks", options->idle_stacks,
                    "Sample what launching threads do while the GPU waits; with --stacks=auto");
  AddMetricsOptions(command, options);
  command
      ->add_option("--app-metrics", options->app_metrics,
                   "Read the Prometheus page of vLLM, SGLang, TGI or Triton at http://ADDRESS:PORT")
      ->type_name("URL");
  AddWorkloadSpecOptions(command, &arguments->work);
  AddAlertOption(command, &arguments->alerts);
}

void AddServiceRecordingOptions(CLI::App* command, RecordingArguments* arguments,
                                RecordingOptions* options) {
  AddCounterOptions(command, arguments, options);
  AddMetricsOptions(command, options);
}

absl::Status ReadRecordingArguments(const RecordingArguments& arguments,
                                    RecordingOptions* options) {
  const absl::StatusOr<uint32_t> budget = ParseOverheadBudget(arguments.overhead_budget);
  if (!budget.ok()) return budget.status();
  options->overhead_budget_ppm = *budget;
  absl::StatusOr<WorkloadSpec> work = MakeWorkloadSpec(arguments.work);
  if (!work.ok()) return work.status();
  options->workload_spec = *std::move(work);
  absl::StatusOr<AlertLimits> limits = ParseAlertLimits(arguments.alerts);
  if (!limits.ok()) return limits.status();
  options->alert_limits = *std::move(limits);
  // Processes that change their folder shall find it too.
  if (!options->cupti_path.empty()) {
    options->cupti_path = std::filesystem::absolute(options->cupti_path);
  }
  if (!options->history_folder.empty()) {
    options->history_folder = std::filesystem::absolute(options->history_folder);
  }
  if (options->idle_stacks && !options->stacks) {
    return absl::InvalidArgumentError(
        "--idle-stacks samples stacks, which are off: add --stacks=auto");
  }
  options->report = !arguments.no_report;
  options->new_work = !arguments.no_new_work;
  options->print_report = [](const Summary& summary) { PrintReport(summary, stderr); };
  return absl::OkStatus();
}

}  // namespace utlz
