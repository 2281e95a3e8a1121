// Reduces the state of a run to the Summary. Each part of it is made in a file of its own.
#ifndef UTLZ_COLLECTOR_SUMMARIZE_SUMMARY_BUILDER_H_
#define UTLZ_COLLECTOR_SUMMARIZE_SUMMARY_BUILDER_H_

#include "collector/run/run_state.h"
#include "proto/summary.pb.h"

namespace utlz {

// `state` as RunIntake::Advance() returns it; of a run that goes on, what is known so far.
// `threads`: for the analysis, so many at once.
Summary Summarize(const RunState& state, unsigned threads = 1);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARIZE_SUMMARY_BUILDER_H_
