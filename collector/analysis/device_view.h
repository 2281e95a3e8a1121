// One device while its summary is made: its kernels, and the parts of its time that figures are of.
// Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_ANALYSIS_DEVICE_VIEW_H_
#define UTLZ_COLLECTOR_ANALYSIS_DEVICE_VIEW_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/analysis/analysis.h"

namespace utlz {

// What it refers to must outlive it.
struct DeviceView {
  const RunState& run_state;
  const DeviceState& state;
  const DeviceAnalysis& analysis;
  const std::optional<StepsSpan>& steps;
  std::vector<const KernelRow*> rows;
  double scale = 1;  // kernel time of the run ÷ what was traced of it
};

// Of the device with this index into DeviceTable.
DeviceView ViewOf(const RunState& run_state, const Analysis& analysis, uint32_t device);

// A part of the device's traced time, and of its kernels.
struct Extent {
  double time_ns = 0;
  double kernel_share = 1;
  double kernel_weight = 1;  // how often a launch that was traced there counts
  bool steady = false;
  // What was not traced included.
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
};

// The steady part.
Extent WindowOf(const DeviceView& view);
// All traced time, from the first to the last activity.
Extent RunOf(const DeviceView& view);
// From the first to the last activity, whether traced or not.
double SpanNs(const DeviceView& view);

// Of a kernel's launches and time in the run, what lies in an extent.
double ShareIn(const KernelRow& row, const Extent& extent);
// Launches of a kernel that were traced in an extent, each as often as it counts.
double LaunchesIn(const KernelRow& row, const Extent& extent);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_DEVICE_VIEW_H_
