// Which part of a kernel's work lies in the steady part of the run. What runs at the start
// (autotuning, the initialization of weights) is other kernels than those of the steps, so each has
// its own share.
#ifndef UTLZ_COLLECTOR_ANALYSIS_STEADY_SHARES_H_
#define UTLZ_COLLECTOR_ANALYSIS_STEADY_SHARES_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Sets traced_steady_share of every row by the timeline of its kernel. A kernel without one has the
// share that its first and last launch tell, or that of all kernels of its device. The rows of a
// device together have its kernel_share. Sets steady_share by kernel_scale: utlz often traces
// start-up more densely than steps, and the steps that it did not trace belong to the steps.
void SetSteadyShares(const RunState& state, Analysis* analysis);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_STEADY_SHARES_H_
