// The most that a GPU's counters can count: a count beyond it is of a counter that wrapped or was
// read wrongly. Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_COUNTERS_COUNTER_LIMITS_H_
#define UTLZ_COLLECTOR_COUNTERS_COUNTER_LIMITS_H_

#include <cstdint>
#include <vector>

#include "collector/counters/counter_set.h"

namespace utlz {

// In CounterSet's units for each nanosecond, half as much again as the peaks say, since the ends of
// a sample are known no better. Infinite where the peaks do not say.
double MostPerNs(MetricRole role, const DevicePeaks& peaks);

// Whether a GPU of these peaks can have counted `row` (as CounterSet::Convert made it) meanwhile.
bool CanBeCounted(const CounterSet& counters, const DevicePeaks& peaks, uint64_t start_ns,
                  uint64_t end_ns, const std::vector<double>& row);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_COUNTERS_COUNTER_LIMITS_H_
