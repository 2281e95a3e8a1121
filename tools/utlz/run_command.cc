#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/run/overhead_budget.h"
#include "tools/run/run.h"
#include "tools/utlz/choice.h"
#include "tools/utlz/command.h"
#include "tools/utlz/model_work_options.h"
#include "tools/utlz/print_report.h"

namespace utlz {
namespace {

constexpr double kMaxSeconds = 1e9;

struct RunArguments {
  RunOptions options;
  std::string overhead_budget = "1%";
  double delay_s = 0;
  double duration_s = 0;
  bool no_report = false;
  ModelWorkRequest work;
};

CLI::Validator SecondsRange() { return CLI::Range(0.0, kMaxSeconds).description(""); }

uint64_t Milliseconds(double seconds) { return static_cast<uint64_t>(std::llround(seconds * 1e3)); }

int Run(const CLI::App& subcommand, const std::vector<std::string>& command,
        RunArguments* arguments) {
  RunOptions& options = arguments->options;
  options.command = command;
  if (options.command.empty()) {
    std::fprintf(stderr, "utlz: which command? utlz run [OPTIONS] [--] COMMAND…\n");
    return kRunFailed;
  }
  const absl::StatusOr<uint32_t> budget = ParseOverheadBudget(arguments->overhead_budget);
  if (!budget.ok()) {
    std::fprintf(stderr, "utlz: %s\n", std::string(budget.status().message()).c_str());
    return kRunFailed;
  }
  options.overhead_budget_ppm = *budget;
  absl::StatusOr<ModelWork> work = MakeModelWork(arguments->work);
  if (!work.ok()) {
    std::fprintf(stderr, "utlz: %s\n", std::string(work.status().message()).c_str());
    return kRunFailed;
  }
  options.model_work = *std::move(work);
  options.delay_ms = Milliseconds(arguments->delay_s);
  if (subcommand.count("--duration") > 0) options.duration_ms = Milliseconds(arguments->duration_s);
  options.report = !arguments->no_report;
  options.print_report = [](const Summary& summary) { PrintReport(summary, stderr); };
  return RunCommand(options);
}

}  // namespace

CLI::App* AddRunCommand(CLI::App* program, const std::vector<std::string>* words, Action* action) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* run = program->add_subcommand("run", "Run a command and profile its use of the GPU");
  run->footer("The command follows the options: utlz run -o a.utlz -- python train.py");
  run->add_option("-o,--output", arguments->options.output,
                  "Profile to write; default utlz-<command>-<date>-<pid>.utlz")
      ->type_name("FILE");
  const std::map<std::string, CountersMode> modes = {{"auto", CountersMode::kAuto},
                                                     {"sample", CountersMode::kSample},
                                                     {"range", CountersMode::kRange},
                                                     {"none", CountersMode::kNone}};
  run->add_option("--counters", arguments->options.counters,
                  "Where FLOPs and bytes come from: auto, sample, range or none")
      ->transform(Choice(modes))
      ->type_name("MODE");
  run->add_option("--delay", arguments->delay_s, "Begin to trace after this many seconds")
      ->check(SecondsRange())
      ->type_name("SECONDS");
  run->add_option("--duration", arguments->duration_s, "Trace for this many seconds")
      ->check(SecondsRange())
      ->type_name("SECONDS");
  run->add_option("--overhead-budget", arguments->overhead_budget,
                  "By how much the job may be slowed: a percentage, or unlimited")
      ->type_name("SHARE")
      ->capture_default_str();
  run->add_flag("--no-report", arguments->no_report, "Write the profile and print no report");
  run->add_flag("--nvtx", arguments->options.nvtx, "Record NVTX ranges too");
  AddModelWorkOptions(run, &arguments->work);
  CLI::Option* asleep =
      run->add_flag("--asleep", arguments->options.asleep,
                    "Only load the agent, asleep until utlz attach wakes it; needs no ptrace then");
  for (const char* name : {"--output", "--counters", "--delay", "--duration", "--overhead-budget",
                           "--no-report", "--nvtx"}) {
    asleep->excludes(run->get_option(name));
  }
  run->callback([run, words, arguments, action] {
    *action = [run, words, arguments] { return Run(*run, *words, arguments.get()); };
  });
  return run;
}

}  // namespace utlz
