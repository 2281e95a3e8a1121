// Reads from a run what the alarm rules look at. Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_ALARMS_TAKE_READINGS_H_
#define UTLZ_COLLECTOR_ALARMS_TAKE_READINGS_H_

#include "collector/alarms/readings.h"
#include "collector/metrics/run_metrics.h"
#include "collector/run/run_state.h"

namespace utlz {

// `metrics` after a snapshot of `run_state` was taken.
Readings TakeReadings(const RunState& run_state, const RunMetrics& metrics);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ALARMS_TAKE_READINGS_H_
