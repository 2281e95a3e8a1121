#include "collector/text/slowdown_text.h"

#include <algorithm>

#include "collector/text/number_text.h"

namespace utlz {
namespace {

BudgetVerdict Judge(double share, double error_share, double budget_share) {
  if (share - error_share > budget_share) return BudgetVerdict::kOver;
  return share > budget_share ? BudgetVerdict::kPerhapsOver : BudgetVerdict::kWithin;
}

BudgetVerdict JudgeRun(const CaptureSummary& capture) {
  const SlowdownSummary& slowdown = capture.slowdown();
  return Judge(slowdown.share(), slowdown.error_share(), capture.overhead_budget_share());
}

BudgetVerdict JudgeSteps(const CaptureSummary& capture) {
  const SlowdownSummary& slowdown = capture.slowdown();
  return Judge(slowdown.steps_share(), slowdown.steps_error_share(),
               capture.overhead_budget_share());
}

const char* BudgetText(BudgetVerdict verdict) {
  switch (verdict) {
    case BudgetVerdict::kOver:
      return "over the budget of ";
    case BudgetVerdict::kPerhapsOver:
      return "perhaps over the budget of ";
    case BudgetVerdict::kWithin:
      break;
  }
  return "budget ";
}

// Over a long start-up tracing costs little, so the steps' own share is said too. So it is where it
// alone is surely over the budget.
bool SaysStepsToo(const CaptureSummary& capture) {
  const SlowdownSummary& slowdown = capture.slowdown();
  return slowdown.steps_share() > slowdown.share() || JudgeByBudget(capture) > JudgeRun(capture);
}

}  // namespace

BudgetVerdict JudgeByBudget(const CaptureSummary& capture) {
  if (!capture.has_overhead_budget_share()) return BudgetVerdict::kWithin;
  return std::max(JudgeRun(capture), JudgeSteps(capture));
}

std::string SlowdownText(const CaptureSummary& capture) {
  if (!capture.has_slowdown()) return {};
  const SlowdownSummary& slowdown = capture.slowdown();
  std::string text = slowdown.measured() ? "measured slowdown " : "estimated slowdown ";
  text += PercentWithErrorText(slowdown.share(), slowdown.error_share());
  if (SaysStepsToo(capture)) {
    text += " of the run, " +
            PercentWithErrorText(slowdown.steps_share(), slowdown.steps_error_share()) +
            " of the steps";
  }
  if (!capture.has_overhead_budget_share()) return text;
  return text + " (" + BudgetText(JudgeByBudget(capture)) +
         PercentText(capture.overhead_budget_share()) + ")";
}

std::string SlowdownPartsText(const CaptureSummary& capture) {
  const SlowdownSummary& slowdown = capture.slowdown();
  const bool sampling_measured = slowdown.measured() && slowdown.sampling_share() <= 0;
  const struct {
    const char* text;
    double share;
  } parts[] = {
      {sampling_measured ? "by tracing and sampling " : "by tracing ", slowdown.tracing_share()},
      {"by sampling ", slowdown.sampling_share()},
      {"by CUPTI's presence ", slowdown.presence_share()},
      {"at start and end ", slowdown.start_and_end_share()}};
  std::string text;
  int known = 0;
  for (const auto& part : parts) {
    if (part.share <= 0) continue;
    text += (known++ == 0 ? "of the run " : ", ") + (part.text + PercentText(part.share));
  }
  return known < 2 ? std::string() : text;
}

}  // namespace utlz
