// Days of a job on a clock of their own, put together from pieces of a recorded run in random
// order, and what alarms say of them. Thread safety: functions only.
#ifndef UTLZ_BENCH_ALARMS_SIMULATED_DAYS_H_
#define UTLZ_BENCH_ALARMS_SIMULATED_DAYS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "bench/alarms/recorded_pace.h"

namespace utlz {

// Alarms that were raised in so many hours in which nothing happened, by name.
std::map<std::string, int> AlarmsInHours(const RecordedPace& pace, double hours, uint64_t seed);

// Seconds from the moment at which all takes 1 ÷ (1 − fall) as long, some minutes into a
// job, to the first alarm; nothing where none came within five minutes.
std::optional<double> SecondsToAlarm(const RecordedPace& pace, double fall, uint64_t seed);

// Of blocks of five seconds: standard deviation of the pace ÷ its mean.
double BlockScatter(const RecordedPace& pace, uint64_t seed);

}  // namespace utlz

#endif  // UTLZ_BENCH_ALARMS_SIMULATED_DAYS_H_
