// What `utlz calibrate` attained on a GPU, as shares of its peaks. Pure.
#ifndef UTLZ_TOOLS_TOP_ATTAINED_H_
#define UTLZ_TOOLS_TOP_ATTAINED_H_

#include <optional>

#include "proto/profile.pb.h"

namespace utlz::top {

// The properties that determine a GPU's peaks; zero: unknown.
struct GpuShape {
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
  unsigned cores = 0;           // as NVML counts: lanes of fp32
  double memory_clock_mhz = 0;  // the highest
  unsigned memory_bus_bits = 0;
};

struct AttainedPercent {
  std::optional<double> compute;  // of tensor operations, at the clock that was measured
  std::optional<double> dram;
};

AttainedPercent AttainedOf(const DeviceCeilings& ceilings, const GpuShape& shape);

}  // namespace utlz::top

#endif  // UTLZ_TOOLS_TOP_ATTAINED_H_
