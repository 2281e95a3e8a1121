// By how much utlz slowed the program: `CaptureSummary.slowdown`, and the costs that it is made of.
#ifndef UTLZ_COLLECTOR_SUMMARY_SLOWDOWN_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_SLOWDOWN_SUMMARY_H_

#include "collector/analysis/analysis.h"
#include "collector/run/run_state.h"
#include "proto/summary.pb.h"

namespace utlz {

// `capture` has the budget already.
void SummarizeSlowdown(const RunState& state, const Analysis& analysis, CaptureSummary* capture);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_SLOWDOWN_SUMMARY_H_
