// What counters saw on one device in a part of its time: sums over kernels and copies of what was
// attributed to them, or what its samples say where these are too few. Of traced time, not scaled
// to the run. Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_ANALYSIS_DEVICE_COUNTER_SUMS_H_
#define UTLZ_COLLECTOR_ANALYSIS_DEVICE_COUNTER_SUMS_H_

#include <optional>

#include "collector/analysis/device_view.h"

namespace utlz {

// Sum over kernels and copies of one counter, in an extent of traced time.
struct CounterSum {
  double value = 0;
  double variance = 0;
  double assumed_variance = 0;  // of it, what rests on assumptions
  double other_variance = 0;    // of `variance`, what is not the errors of kernels' own counters
  double other_assumed_variance = 0;
};

// Kernels that no sample has covered yet are taken to work at the mean rate of those that one has,
// give or take all of it; where these are too few, the samples speak for the device. Nothing where
// nobody counted.
std::optional<CounterSum> SumOf(const DeviceView& view, const Extent& extent, MetricRole role);

// FLOPs of what counters saw in an extent, and the time that they need at the peaks of their types.
struct FlopsSum {
  double flops = 0;
  double variance = 0;
  double assumed_variance = 0;  // of it, what rests on assumptions
  double peak_time_ns = 0;      // of the tensor pipe alone
  double peak_variance = 0;
  double peak_assumed_variance = 0;
};

FlopsSum FlopsIn(const DeviceView& view, const Extent& extent);

// Whether counters say what the tensor pipes did in an extent; where none counts them, whether any
// says what other pipes did.
bool FlopsCounted(const DeviceView& view, const Extent& extent, const FlopsSum& sum);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_DEVICE_COUNTER_SUMS_H_
