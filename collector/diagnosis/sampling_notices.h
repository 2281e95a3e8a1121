// Sentences for the report about the sampling of counters: what else they may have counted, what
// they counted beside all records, who had them meanwhile, and what sampling took.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_SAMPLING_NOTICES_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_SAMPLING_NOTICES_H_

#include "collector/run/run_state.h"
#include "proto/summary.pb.h"

namespace utlz {

// Adds them to the run's notices. Needs the summaries of devices and capture.
void AddSamplingNotices(const RunState& state, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_SAMPLING_NOTICES_H_
