#include "collector/metrics/device_history.h"

#include <algorithm>

#include "collector/metrics/compute_share.h"

namespace utlz {
namespace {

MeanTotal TotalOf(const SampleTotals& samples, MetricRole role) {
  return {samples.Sum(role), static_cast<double>(samples.SampledNs(role)) * 1e-9};
}

MeanTotal TotalOf(const TimeWeightedMean& mean) { return {mean.sum(), mean.seconds()}; }

std::optional<double> PerSecond(const MeanTotal& from, const MeanTotal& to) {
  if (to.time <= from.time) return std::nullopt;
  return (to.sum - from.sum) / (to.time - from.time);
}

std::optional<double> Share(double part, double whole) {
  if (whole <= 0) return std::nullopt;
  return std::clamp(part / whole, 0.0, 1.0);
}

std::optional<double> ShareOfCycles(const MeanTotal& from, const MeanTotal& to,
                                    const std::optional<double>& elapsed) {
  const auto cycles = PerSecond(from, to);
  return cycles.has_value() && elapsed.has_value() ? Share(*cycles, *elapsed) : std::nullopt;
}

// Where HFU is measured from. Samples may come before any process does, and a rate from there on
// would be one since 1970.
const DevicePoint& FirstKnown(const std::deque<DevicePoint>& points) {
  const auto known = std::find_if(points.begin(), points.end(),
                                  [](const DevicePoint& point) { return point.known_ns != 0; });
  return known == points.end() ? points.back() : *known;
}

std::optional<double> MemorySpeedOfLight(const DevicePoint& from, const DevicePoint& to,
                                         double peak) {
  const auto read = PerSecond(from.read_bytes, to.read_bytes);
  const auto write = PerSecond(from.write_bytes, to.write_bytes);
  if (read.has_value() && write.has_value() && peak > 0) return Share(*read + *write, peak);
  return PerSecond(from.gpm_dram_active, to.gpm_dram_active);
}

}  // namespace

DevicePoint PointOf(const RunState& run_state, uint32_t device, const DeviceWork& work,
                    const TimeSum& time) {
  const DeviceState& state = run_state.devices[device];
  DevicePoint point;
  point.time_ns = run_state.NewestNs();
  point.in_use = false;
  for (const auto& [source, process] : run_state.processes.processes()) {
    if (!process->DevicesUsed().contains(device)) continue;
    point.in_use = point.in_use || process->live();
    point.known_ns = std::max(point.known_ns, KernelsKnownNs(*process));
  }
  point.work = work;
  point.time = time;
  point.sm_active_cycles = TotalOf(state.samples, METRIC_SM_CYCLES_ACTIVE);
  point.sm_elapsed_cycles = TotalOf(state.samples, METRIC_SM_CYCLES_ELAPSED);
  point.tensor_cycles = TotalOf(state.samples, METRIC_TENSOR_ACTIVE);
  point.read_bytes = TotalOf(state.samples, METRIC_DRAM_READ_BYTES);
  point.write_bytes = TotalOf(state.samples, METRIC_DRAM_WRITE_BYTES);
  point.gpm_sm_active = TotalOf(state.totals.gpm_sm_active());
  point.gpm_tensor_active = TotalOf(state.totals.gpm_tensor_active());
  point.gpm_dram_active = TotalOf(state.totals.gpm_dram_active());
  point.nvml_busy = TotalOf(state.totals.busy());
  return point;
}

void DeviceHistory::Add(const DevicePoint& point) {
  points_.push_back(point);
  times_.Add(point.time, point.time_ns);
  while (points_.size() > 2 && points_[1].time_ns + kLengthNs <= point.time_ns) {
    points_.pop_front();
  }
}

DeviceRates DeviceHistory::Rates(const Ceilings& ceilings) const {
  DeviceRates rates;
  if (points_.size() < 2) return rates;
  const DevicePoint& from = points_.front();
  const DevicePoint& to = points_.back();
  const auto elapsed = PerSecond(from.sm_elapsed_cycles, to.sm_elapsed_cycles);
  const DevicePoint& first = FirstKnown(points_);
  // Of one whose processes have ended nothing more will be known.
  if (to.in_use) rates.hfu = ShareOfPeak(first.work, first.known_ns, to.work, to.known_ns);
  rates.compute_speed_of_light = ShareOfCycles(from.tensor_cycles, to.tensor_cycles, elapsed);
  rates.sm_active = ShareOfCycles(from.sm_active_cycles, to.sm_active_cycles, elapsed);
  if (!rates.compute_speed_of_light.has_value()) {
    rates.compute_speed_of_light = PerSecond(from.gpm_tensor_active, to.gpm_tensor_active);
  }
  if (!rates.sm_active.has_value()) {
    rates.sm_active = PerSecond(from.gpm_sm_active, to.gpm_sm_active);
  }
  rates.memory_speed_of_light = MemorySpeedOfLight(from, to, ceilings.dram_bytes_per_second);
  const auto time = TimeGrowth();
  if (to.in_use && time.has_value()) rates.busy = Share(time->busy_ns, time->traced_ns);
  rates.nvml_busy = PerSecond(from.nvml_busy, to.nvml_busy);
  return rates;
}

}  // namespace utlz
