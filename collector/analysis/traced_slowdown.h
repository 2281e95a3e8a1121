// In its windows tracing slows a program down: the host takes longer to launch, so the GPU waits.
// What was measured of that (measured_cost.h) is taken out of the steady part, for its shares,
// steps and findings to be those of the program that nobody traces.
#ifndef UTLZ_COLLECTOR_ANALYSIS_TRACED_SLOWDOWN_H_
#define UTLZ_COLLECTOR_ANALYSIS_TRACED_SLOWDOWN_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Takes it out of a device's gaps, all alike, since no record tells which of them tracing
// lengthened; nothing where it was not measured or cannot be separated from none.
void TakeSlowdownOut(const RunState& state, uint32_t device, const std::optional<StepsSpan>& steps,
                     DevicePart* part);

// The same for the steps' usual times and their idle time; those listed one by one stay as they
// were traced. Summary.steps must be filled already.
void TakeSlowdownOutOfSteps(const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_TRACED_SLOWDOWN_H_
