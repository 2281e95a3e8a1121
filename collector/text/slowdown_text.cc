#include "collector/text/slowdown_text.h"

#include "collector/text/number_text.h"

namespace utlz {

std::string SlowdownText(const CaptureSummary& capture) {
  if (!capture.has_slowdown()) return {};
  const SlowdownSummary& slowdown = capture.slowdown();
  std::string text = slowdown.measured() ? "measured slowdown " : "estimated slowdown ";
  text += PercentWithErrorText(slowdown.share(), slowdown.error_share());
  // Over a long start-up tracing costs little, so the steps' own share is said too.
  if (slowdown.steps_share() > slowdown.share()) {
    text += " of the run, " +
            PercentWithErrorText(slowdown.steps_share(), slowdown.steps_error_share()) +
            " of the steps";
  }
  if (!capture.has_overhead_budget_share()) return text;
  return text + (slowdown.over_budget() ? " (over the budget of " : " (budget ") +
         PercentText(capture.overhead_budget_share()) + ")";
}

std::string SlowdownPartsText(const CaptureSummary& capture) {
  const SlowdownSummary& slowdown = capture.slowdown();
  const struct {
    const char* text;
    double share;
  } parts[] = {
      {slowdown.measured() ? "by tracing and sampling " : "by tracing ", slowdown.tracing_share()},
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
