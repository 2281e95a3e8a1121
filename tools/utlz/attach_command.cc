#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "tools/attach_session/attach.h"
#include "tools/run/overhead_budget.h"
#include "tools/utlz/choice.h"
#include "tools/utlz/command.h"
#include "tools/utlz/print_report.h"

namespace utlz {
namespace {

constexpr double kMaxSeconds = 1e6;

struct AttachArguments {
  AttachOptions options;
  std::string overhead_budget = "1%";
  double duration_s = 10;
  bool no_report = false;
};

int RunAttach(AttachArguments* arguments) {
  AttachOptions& options = arguments->options;
  const absl::StatusOr<uint32_t> budget = ParseOverheadBudget(arguments->overhead_budget);
  if (!budget.ok()) {
    std::fprintf(stderr, "utlz: %s\n", std::string(budget.status().message()).c_str());
    return kUsageError;
  }
  options.overhead_budget_ppm = *budget;
  options.duration_ms = static_cast<uint64_t>(std::llround(arguments->duration_s * 1e3));
  options.report = !arguments->no_report;
  options.print_report = [](const Summary& summary) { PrintReport(summary, stderr); };
  return AttachToProcesses(options);
}

}  // namespace

void AddAttachCommand(CLI::App* program, Action* action) {
  const auto arguments = std::make_shared<AttachArguments>();
  CLI::App* attach =
      program->add_subcommand("attach", "Profile processes that are running already");
  attach->add_option("PID", arguments->options.pids, "Processes, by number")
      ->required()
      ->check(CLI::PositiveNumber)
      ->type_name("");
  attach->add_flag("--all", arguments->options.all,
                   "Also every other CUDA process of their server: children, and their group");
  attach->add_option("--duration", arguments->duration_s, "Record for this many seconds")
      ->check(CLI::Range(0.001, kMaxSeconds).description(""))
      ->type_name("SECONDS")
      ->capture_default_str();
  attach
      ->add_option("-o,--output", arguments->options.output,
                   "Profile to write; default utlz-<name>-<pid>-<date>-<pid>.utlz")
      ->type_name("FILE");
  const std::map<std::string, CountersMode> modes = {{"auto", CountersMode::kAuto},
                                                     {"sample", CountersMode::kSample},
                                                     {"range", CountersMode::kRange},
                                                     {"none", CountersMode::kNone}};
  attach
      ->add_option("--counters", arguments->options.counters,
                   "Where FLOPs and bytes come from: auto, sample, range or none")
      ->transform(Choice(modes))
      ->type_name("MODE");
  attach
      ->add_option("--overhead-budget", arguments->overhead_budget,
                   "By how much the processes may be slowed: a percentage, or unlimited")
      ->type_name("SHARE")
      ->capture_default_str();
  attach
      ->add_option("--stop-limit", arguments->options.stop_limit_ms,
                   "Milliseconds that one thread may stand still before the agent is loaded")
      ->check(CLI::Range(1, 10'000).description(""))
      ->type_name("MS")
      ->capture_default_str();
  attach->add_flag("--no-report", arguments->no_report, "Write the profile and print no report");
  attach->add_flag("--nvtx", arguments->options.nvtx,
                   "Record NVTX ranges too, of what first uses NVTX from now on");
  attach->callback(
      [arguments, action] { *action = [arguments] { return RunAttach(arguments.get()); }; });
}

}  // namespace utlz
