#include "collector/analysis/flops_by_code.h"

#include <algorithm>
#include <cmath>

#include "collector/attribution/options.h"
#include "collector/kernel_code/kernel_code.h"
#include "collector/normal_interval.h"
#include "collector/warp_threads.h"

namespace utlz {
namespace {

// Between two runs, standard error. Assumed.
constexpr double kInstructionsDiffer = 0.005;
// While CUPTI records kernels, each warp executes some eight more instructions than under Nsight
// Compute, and four to ten more of the ALU pipe, whatever the kernel
// (docs/measurements/ordinary_kernels.md). Any number up to this is taken for no work of its own.
constexpr double kMostAdded = 12;

double Product(const uint32_t (&extent)[3]) {
  return static_cast<double>(extent[0]) * extent[1] * extent[2];
}

// Caches and clocks, which the attribution allows for, change no number of instructions.
double ErrorOf(const CounterPerLaunch& counter) {
  const double reproducibility = attribution::Options().reproducibility * counter.value;
  const double rest = counter.error * counter.error - reproducibility * reproducibility;
  return std::hypot(std::sqrt(std::max(0.0, rest)), kInstructionsDiffer * counter.value);
}

// What the kernel itself executed, of a count with up to `added` other instructions.
void TakeOut(double added, std::optional<CountedInstructions>* counted) {
  if (!counted->has_value()) return;
  (*counted)->a_launch = std::max(0.0, (*counted)->a_launch - added / 2);
  (*counted)->error += added / 2 / kNormal95;
}

}  // namespace

std::optional<FlopBounds> FlopsByCode(const KernelCode& code, const VariantShape& shape,
                                      const KernelPart& part) {
  const auto counted = [&part](MetricRole role) -> std::optional<CountedInstructions> {
    const auto& counter = part.counters[role];
    if (!counter.has_value()) return std::nullopt;
    return CountedInstructions{.a_launch = counter->value, .error = ErrorOf(*counter)};
  };
  CountedLaunch launch;
  launch.threads = Product(shape.grid) * Product(shape.block);
  launch.warps = Product(shape.grid) * std::ceil(Product(shape.block) / kWarpThreads);
  launch.warp_fma = counted(METRIC_FMA_INSTRUCTIONS);
  launch.warp_fma_lite = counted(METRIC_FMA_LITE_INSTRUCTIONS);
  launch.warp_alu = counted(METRIC_ALU_INSTRUCTIONS);
  launch.warp_xu = counted(METRIC_XU_INSTRUCTIONS);
  launch.warp_all = counted(METRIC_INSTRUCTIONS);
  launch.thread_all = counted(METRIC_THREAD_INSTRUCTIONS);
  launch.thread_alu = counted(METRIC_ALU_THREAD_INSTRUCTIONS);
  launch.thread_xu = counted(METRIC_XU_THREAD_INSTRUCTIONS);
  if (launch.threads <= 0 || !launch.warp_fma.has_value()) return std::nullopt;
  TakeOut(kMostAdded * launch.warps, &launch.warp_all);
  TakeOut(kMostAdded * launch.warps, &launch.warp_alu);
  TakeOut(kMostAdded * kWarpThreads * launch.warps, &launch.thread_all);
  TakeOut(kMostAdded * kWarpThreads * launch.warps, &launch.thread_alu);
  return BoundFlops(code, launch);
}

bool CodeAllowance::Take(const KernelCode& code) {
  auto parts = static_cast<double>(code.blocks.size());
  for (const CodeBlock& block : code.blocks) parts += static_cast<double>(block.choices.size());
  const double cost = parts * parts * parts;
  if (cost > left_) return false;
  left_ -= cost;
  return true;
}

}  // namespace utlz
