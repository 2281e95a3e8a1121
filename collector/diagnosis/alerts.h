// Alerts: limits that a run crossed, whatever the reason. Findings say what to change; alerts say
// where to look, and their limits are the reader's to set.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_ALERTS_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_ALERTS_H_

#include "proto/profile.pb.h"
#include "proto/summary.pb.h"

namespace utlz {

// Every limit at its default.
AlertLimits DefaultAlertLimits();

// Fills Summary.alerts and .alert_limits anew: `given` goes before the limits that the summary
// holds already, and those before the defaults. Everything else must be filled already.
void RaiseAlerts(const AlertLimits& given, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_ALERTS_H_
