// The report's NVTX ranges: how often, how long, and what the kernels launched inside did.
#ifndef UTLZ_COLLECTOR_SUMMARY_MARKER_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_MARKER_SUMMARY_H_

#include "collector/analysis/analysis.h"
#include "collector/run/run_state.h"
#include "proto/summary.pb.h"

namespace utlz {

// Kernels are known of a range name only where launch calls were recorded and of none of its ranges
// they were lost; FLOPs and bytes only where they are known of each of these kernels.
void SummarizeMarkers(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_MARKER_SUMMARY_H_
