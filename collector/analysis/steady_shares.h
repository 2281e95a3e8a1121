// Which part of a kernel's work lies in the steady part of the run. What runs at the start
// (autotuning, the initialization of weights) is other kernels than those of the steps, so each has
// its own share.
#ifndef UTLZ_COLLECTOR_ANALYSIS_STEADY_SHARES_H_
#define UTLZ_COLLECTOR_ANALYSIS_STEADY_SHARES_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Sets steady_share of every row, by the timeline of its kernel where there is one, else by all of
// its device's kernels. The rows of a device together have that device's share (kernel_share).
void SetSteadyShares(const RunState& state, Analysis* analysis);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_STEADY_SHARES_H_
