// A sentence about processes that ended before they had handed over their last records.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_ENDING_NOTICES_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_ENDING_NOTICES_H_

#include "collector/run/run_state.h"
#include "proto/summary.pb.h"

namespace utlz {

// Adds it to the run's notices, where what may be missing is worth a word.
void AddEndingNotices(const RunState& state, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_ENDING_NOTICES_H_
