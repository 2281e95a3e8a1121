#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/compare/gate.h"
#include "tools/compare/render_difference.h"
#include "tools/utlz/command.h"
#include "tools/utlz/load_summaries.h"
#include "tools/utlz/option_checks.h"

namespace utlz {
namespace {

enum class GateFormat { kText, kMarkdown, kJson };

struct GateArguments {
  std::vector<std::string> baseline;
  std::vector<std::string> candidate;
  double max_regression_percent = 3;
  GateFormat format = GateFormat::kText;
  GateOptions gate;
  bool recompute = false;
};

std::string Render(const GateResult& result, GateFormat format) {
  switch (format) {
    case GateFormat::kMarkdown:
      return RenderGateMarkdown(result);
    case GateFormat::kJson:
      return RenderGateJson(result);
    case GateFormat::kText:
      break;
  }
  return RenderGateText(result);
}

int RunGate(GateArguments* arguments) {
  const auto baseline = LoadSummaries(arguments->baseline, arguments->recompute);
  const auto candidate = LoadSummaries(arguments->candidate, arguments->recompute);
  if (!baseline || !candidate) return GateExitStatus(GateOutcome::kRefused);
  arguments->gate.max_regression_share = arguments->max_regression_percent / 100;
  const GateResult result = Gate(*baseline, *candidate, arguments->gate);
  if (!PrintOut(Render(result, arguments->format))) return GateExitStatus(GateOutcome::kRefused);
  return GateExitStatus(result.outcome);
}

}  // namespace

void AddGateCommand(CLI::App* program, Action* action) {
  const auto arguments = std::make_shared<GateArguments>();
  CLI::App* gate = program->add_subcommand(
      "gate", "Exit status for CI: did the candidate get slower than the baseline?");
  // One file each: what follows without an option is a candidate.
  gate->add_option("--baseline", arguments->baseline,
                   "A profile to compare with; may be given again")
      ->required()
      ->allow_extra_args(false)
      ->type_name("FILE");
  gate->add_option("CANDIDATE", arguments->candidate, "Profiles to judge")
      ->required()
      ->type_name("");
  gate->add_option("--max-regression", arguments->max_regression_percent,
                   "Per cent that the candidate may be slower")
      ->transform(CLI::Validator(
          [](std::string& text) {
            if (!text.empty() && text.back() == '%') text.pop_back();
            return std::string();
          },
          "", "percent"))
      ->check(NumberRange(0.0, 1000.0))
      ->type_name("P%");
  gate->add_flag("--allow-other-program", arguments->gate.allow_other_program,
                 "Judge runs that have few kernels in common, too");
  const std::map<std::string, GateFormat> formats = {{"text", GateFormat::kText},
                                                     {"markdown", GateFormat::kMarkdown},
                                                     {"json", GateFormat::kJson}};
  gate->add_option("--format", arguments->format, "text, markdown or json")
      ->transform(Choice(formats))
      ->type_name("WORD");
  AddRecomputeOption(gate, &arguments->recompute);
  gate->callback(
      [arguments, action] { *action = [arguments] { return RunGate(arguments.get()); }; });
}

}  // namespace utlz
