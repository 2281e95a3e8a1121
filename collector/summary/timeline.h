// Series over time for the timeline: activity, bandwidth, power, memory, clock, and the kernels
// with most time.
#ifndef UTLZ_COLLECTOR_SUMMARY_TIMELINE_H_
#define UTLZ_COLLECTOR_SUMMARY_TIMELINE_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Fills Summary.timeline and Summary.kernel_activity; kernels must be filled already.
void SummarizeTimeline(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_TIMELINE_H_
