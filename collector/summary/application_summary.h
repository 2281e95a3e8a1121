// Summarizes what a server in the job reported of itself, and the energy that the GPUs used
// meanwhile.
#ifndef UTLZ_COLLECTOR_SUMMARY_APPLICATION_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_APPLICATION_SUMMARY_H_

#include "collector/run/run_state.h"
#include "proto/summary.pb.h"

namespace utlz {

// Fills Summary.application where two pages of a server were read at least.
void SummarizeApplication(const RunState& state, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_APPLICATION_SUMMARY_H_
