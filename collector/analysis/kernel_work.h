// FLOPs by data type and bytes of one launch of a kernel, from what counters were attributed to it
// and from calibration ranges, each with its standard error and where it comes from.
#ifndef UTLZ_COLLECTOR_ANALYSIS_KERNEL_WORK_H_
#define UTLZ_COLLECTOR_ANALYSIS_KERNEL_WORK_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/analysis/roofline.h"
#include "collector/attribution/flop_solver.h"
#include "collector/counters/attribution_feed.h"
#include "collector/kernel_code/flop_bounds.h"
#include "collector/run/kernel_table.h"

namespace utlz {

struct TypedFlops {
  std::string data_type;
  double flops = 0;
  double error = 0;
  double assumed_error = 0;  // of it, as CounterPerLaunch::assumed
  CounterSource source = SOURCE_UNKNOWN;
  bool assumed = false;  // the type was taken from the function's name
  // Estimated from the instructions that a pipe executed. The pipe also executes instructions that
  // are no arithmetic, and nothing counts them apart.
  // `flops` is the middle of what is possible; the 95 % interval reaches both ends.
  bool by_pipe = false;
  // The kernel's code bounds them from both sides. `flops` is the middle of the bounds; the 95 %
  // interval reaches both.
  bool by_code = false;
};

struct KernelWork {
  std::vector<TypedFlops> flops;  // empty: not known
  std::optional<CounterPerLaunch> read_bytes;
  std::optional<CounterPerLaunch> write_bytes;
  std::optional<CounterPerLaunch> l2_bytes;
  // Cycles of the whole device at its peak (CounterSet).
  std::optional<CounterPerLaunch> sm_active_cycles;
  std::optional<CounterPerLaunch> tensor_active_cycles;
};

// The data type that a kernel's tensor cycles are taken for: by its name, else `fallback`.
std::string TensorTypeFor(const Kernel& kernel, const std::string& fallback);

// What ranges say of one launch of a kernel's part.
struct KernelCalibration {
  bool warp_mma = false;  // its tensor instructions were found to be those of warps
  std::map<std::string, CalibratedFlops> operations;  // by data type; none: nothing is known
};

// `mean_time_ns` of the launches of `part`. `by_code`: what the kernel's code says of its FLOPs
// outside the tensor cores, where that is known.
KernelWork WorkOf(const Kernel& kernel, const KernelPart& part, double mean_time_ns,
                  const Ceilings& ceilings, const std::string& fallback_type,
                  const KernelCalibration& calibration = {},
                  const std::optional<FlopBounds>& by_code = {});

// What is assumed of a launch's operations before ranges are looked at. `work` is of samples
// alone.
KernelPrior PriorOf(const Kernel& kernel, const KernelWork& work, const Ceilings& ceilings,
                    double mean_time_ns);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_KERNEL_WORK_H_
