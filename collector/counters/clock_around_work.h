// The SM clock of a device just before it first worked and just after it last did, as NVML read it:
// together with the clock under load they tell whether clocks were locked, rising or held down.
#ifndef UTLZ_COLLECTOR_COUNTERS_CLOCK_AROUND_WORK_H_
#define UTLZ_COLLECTOR_COUNTERS_CLOCK_AROUND_WORK_H_

#include <optional>

#include "collector/counters/device_totals.h"

namespace utlz {

// Absent where nothing was read at that time, or the device never worked or never rested.
struct ClockAroundWork {
  std::optional<double> before_hz;
  std::optional<double> after_hz;
};

ClockAroundWork FindClockAroundWork(const DeviceTotals& totals);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_COUNTERS_CLOCK_AROUND_WORK_H_
