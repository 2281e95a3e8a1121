// How sentences name a process, or several. Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_ALARMS_SUBJECT_NAME_H_
#define UTLZ_COLLECTOR_ALARMS_SUBJECT_NAME_H_

#include <string>
#include <vector>

#include "collector/alarms/readings.h"

namespace utlz {

// "rank 3" where it has a rank, else "process 4711".
std::string SubjectName(const ProcessReading& process);
// "rank 3", "ranks 0, 1, 2, …": at most eight. Processes that have no rank: "process 12", …
std::string SubjectNames(const std::vector<const ProcessReading*>& processes);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ALARMS_SUBJECT_NAME_H_
