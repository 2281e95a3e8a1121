#include "collector/counters/clock_around_work.h"

#include <cstddef>
#include <vector>

namespace utlz {

// An interval whose mean activity is zero holds no work at all, however long it is.
ClockAroundWork FindClockAroundWork(const DeviceTotals& totals) {
  const BoundedSeries& activity =
      totals.sm_active_series().empty() ? totals.busy_series() : totals.sm_active_series();
  const std::vector<double> active = activity.Values();
  bool worked = false;
  ClockAroundWork around;
  for (size_t i = 0; i < active.size(); ++i) {
    if (active[i] > 0) {
      worked = true;
      around.after_hz.reset();
    }
    if (active[i] != 0) continue;
    const uint64_t start_ns = activity.start_ns() + i * activity.interval_ns();
    const auto hz = totals.clock_series().MeanBetween(start_ns, start_ns + activity.interval_ns());
    if (!hz.has_value()) continue;
    if (!worked) around.before_hz = hz;
    if (worked && !around.after_hz.has_value()) around.after_hz = hz;
  }
  return worked ? around : ClockAroundWork();
}

}  // namespace utlz
