#include "collector/analysis/roofline.h"

#include <algorithm>
#include <cmath>

#include "collector/run/device_table.h"

namespace utlz {
namespace {

// Types that the same pipe works on at the same rate.
std::string_view EqualRateType(std::string_view data_type) {
  if (data_type == "bf16") return "fp16";
  if (data_type == "fp16") return "bf16";
  return data_type;
}

double FirstPositive(std::initializer_list<double> candidates) {
  for (const double candidate : candidates) {
    if (candidate > 0) return candidate;
  }
  return 0;
}

// A profile may hold any number.
bool IsRate(double value) { return std::isfinite(value) && value > 0; }

void AddMeasured(const DeviceCeilings& measured, Ceilings* ceilings) {
  ceilings->attained_time_ns = std::max<uint64_t>(measured.time_ns(), 1);
  for (const double rate : {measured.copy_bytes_per_second(), measured.triad_bytes_per_second()}) {
    if (!IsRate(rate)) continue;
    ceilings->attained_dram_bytes_per_second =
        std::max(ceilings->attained_dram_bytes_per_second, rate);
  }
  for (const DeviceCeilings::Rate& rate : measured.rate()) {
    if (!IsRate(rate.flops_per_second())) continue;
    ceilings->attained_flops_per_second[rate.data_type()] = rate.flops_per_second();
  }
}

// Double data rate: two transfers a clock.
double BandwidthOf(const Device& info) {
  return 2.0 * info.memory_clock_khz() * 1e3 * info.memory_bus_bits() / 8;
}

// Counters know it best.
void SetClock(const DeviceState& device, const DevicePeaks& peaks, Ceilings* ceilings) {
  const SmClockUnderLoad& sampled = device.samples.sm_clock_under_load();
  ceilings->clock_hz =
      FirstPositive({sampled.hz().value_or(0), peaks.sm_clock_hz(),
                     device.totals.sm_clock_hz().value_or(0), ceilings->clock_maximum_hz});
  if (sampled.hz().value_or(0) > 0) {
    ceilings->clock_error_hz = sampled.error_hz();
  } else if (peaks.sm_clock_hz() <= 0) {
    ceilings->clock_error_hz = device.totals.sm_clock_error_hz();
  }
}

}  // namespace

std::optional<double> Ceilings::FlopsPerCycle(std::string_view data_type) const {
  auto found = flops_per_cycle.find(data_type);
  if (found == flops_per_cycle.end()) found = flops_per_cycle.find(EqualRateType(data_type));
  if (found == flops_per_cycle.end() || found->second <= 0) return std::nullopt;
  return found->second;
}

std::optional<double> Ceilings::FlopsPerSecond(std::string_view data_type) const {
  const std::optional<double> flops = FlopsPerCycle(data_type);
  if (!flops.has_value() || clock_hz <= 0) return std::nullopt;
  return *flops * clock_hz;
}

std::optional<double> Ceilings::AttainedFlopsPerSecond(std::string_view data_type) const {
  auto found = attained_flops_per_second.find(data_type);
  if (found == attained_flops_per_second.end()) {
    found = attained_flops_per_second.find(EqualRateType(data_type));
  }
  if (found == attained_flops_per_second.end()) return FlopsPerSecond(data_type);
  return found->second;
}

double Ceilings::AttainedDramBytesPerSecond() const {
  return attained_dram_bytes_per_second > 0 ? attained_dram_bytes_per_second
                                            : dram_bytes_per_second;
}

Ceilings CeilingsOf(const DeviceState& device) {
  Ceilings ceilings;
  const DevicePeaks peaks = device.peaks.value_or(DevicePeaks());
  ceilings.clock_maximum_hz =
      FirstPositive({peaks.sm_clock_maximum_hz(), 1e3 * device.info.sm_clock_khz()});
  SetClock(device, peaks, &ceilings);
  ceilings.dram_bytes_per_second =
      FirstPositive({peaks.dram_bytes_per_second(), BandwidthOf(device.info)});
  for (const DevicePeaks::Pipe& pipe : peaks.pipe()) {
    ceilings.flops_per_cycle[pipe.data_type()] = pipe.flops_per_cycle();
    ceilings.peak_source[pipe.data_type()] = pipe.source();
  }
  ceilings.chip = peaks.chip();
  ceilings.multiprocessors =
      FirstPositive({1.0 * device.info.multiprocessors(), 1.0 * peaks.multiprocessors()});
  if (device.measured.has_value()) AddMeasured(*device.measured, &ceilings);
  return ceilings;
}

std::optional<double> RooflineTimeNs(const RooflineWork& work) {
  if (work.flops_missing) return std::nullopt;
  if (!work.compute_time_ns.has_value()) return work.memory_time_ns;
  if (!work.memory_time_ns.has_value()) return work.compute_time_ns;
  return std::max(*work.compute_time_ns, *work.memory_time_ns);
}

Bound BoundOf(const RooflineWork& work) {
  if (work.communication) return BOUND_COMMUNICATION;
  if (!RooflineTimeNs(work).has_value() || work.time_ns <= 0) return BOUND_UNKNOWN;
  const double compute_share = work.compute_time_ns.value_or(0) / work.time_ns;
  const double memory_share = work.memory_time_ns.value_or(0) / work.time_ns;
  if (std::max(compute_share, memory_share) >= kBoundShare) {
    return compute_share > memory_share ? BOUND_COMPUTE : BOUND_MEMORY;
  }
  if (compute_share < kLatencyShare && memory_share < kLatencyShare) return BOUND_LATENCY;
  return BOUND_NEITHER;
}

}  // namespace utlz
