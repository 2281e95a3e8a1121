// What was noticed while the job ran.
#ifndef UTLZ_COLLECTOR_SUMMARY_ALARM_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_ALARM_SUMMARY_H_

#include "collector/run/run_state.h"
#include "proto/summary.pb.h"

namespace utlz {

// Fills Summary.alarms.
void SummarizeAlarms(const RunState& state, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_ALARM_SUMMARY_H_
