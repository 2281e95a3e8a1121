// The steps of the summary: how long they take, which are warm-up, which are slow and why.
#ifndef UTLZ_COLLECTOR_STEPS_STEP_SUMMARY_H_
#define UTLZ_COLLECTOR_STEPS_STEP_SUMMARY_H_

#include <cstdint>
#include <optional>

#include "collector/analysis/analysis.h"

namespace utlz {

// Fills Summary.steps where the run has steps; their span where there are enough after the warm-up.
std::optional<StepsSpan> SummarizeSteps(const RunState& state, Summary* summary);
// The same of the steps of one process.
std::optional<StepsSpan> SummarizeStepsOf(const RunState& state, uint32_t source, Summary* summary);

// Takes what Summary.steady_state leaves out as pauses out of the mean step too, where the window
// is of steps: its slices sum to a step then. Summary.steps must be filled already.
void TakePausesOutOfSteps(const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_STEPS_STEP_SUMMARY_H_
