// The run cut into parts that records tell apart: start, loading, set-up, warm-up, steps, end.
// Where nobody counted what ran after the last traced step, what was not traced there is a part
// too.
#ifndef UTLZ_COLLECTOR_SUMMARY_PHASES_H_
#define UTLZ_COLLECTOR_SUMMARY_PHASES_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Fills Summary.phases; Summary.run and Summary.steps must be filled already. The processes of one
// job start together: the first call of CUDA and the first kernel are those of the earliest.
void SummarizePhases(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_PHASES_H_
