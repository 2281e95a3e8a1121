#include "tools/top/attained.h"

#include <algorithm>
#include <string_view>

#include "collector/sampler/counters/peak_rates.h"

namespace utlz::top {
namespace {

// FLOPs a cycle of one multiprocessor; zero where the table has none.
double RateOf(const GpuShape& shape, std::string_view data_type) {
  for (const PeakRate& rate :
       PeakRates(shape.compute_capability_major, shape.compute_capability_minor)) {
    if (rate.data_type == data_type) return rate.flops_per_cycle;
  }
  return 0;
}

// Of the whole GPU. A lane of fp32 does one fused multiply-add, two FLOPs, a cycle.
double FlopsPerCycle(const GpuShape& shape, std::string_view data_type) {
  const double of_lanes = RateOf(shape, "fp32");
  return of_lanes > 0 ? 2.0 * shape.cores * RateOf(shape, data_type) / of_lanes : 0;
}

std::optional<double> ComputePercent(const DeviceCeilings& ceilings, const GpuShape& shape) {
  for (const std::string_view type : {"bf16", "fp16"}) {
    for (const DeviceCeilings::Rate& rate : ceilings.rate()) {
      const double peak = FlopsPerCycle(shape, type) * rate.sm_clock_hz();
      if (rate.data_type() != type || peak <= 0) continue;
      return std::min(100.0, 100 * rate.flops_per_second() / peak);
    }
  }
  return std::nullopt;
}

}  // namespace

AttainedPercent AttainedOf(const DeviceCeilings& ceilings, const GpuShape& shape) {
  AttainedPercent attained{.compute = ComputePercent(ceilings, shape), .dram = std::nullopt};
  // Two transfers a clock.
  const double peak = 2e6 * shape.memory_clock_mhz * shape.memory_bus_bits / 8;
  const double bytes =
      std::max(ceilings.copy_bytes_per_second(), ceilings.triad_bytes_per_second());
  if (peak > 0 && bytes > 0) attained.dram = std::min(100.0, 100 * bytes / peak);
  return attained;
}

}  // namespace utlz::top
