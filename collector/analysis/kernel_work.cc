#include "collector/analysis/kernel_work.h"

#include <algorithm>
#include <cmath>

#include "collector/analysis/tensor_rates.h"
#include "collector/kernel_names/kernel_class.h"
#include "collector/normal_interval.h"
#include "collector/warp_threads.h"

namespace utlz {
namespace {

// Tensor cycles below these shares of a kernel's time are spill from its neighbours: the first for
// kernels whose names speak of matrix products, the second for all others.
constexpr double kNegligibleTensorShare = 0.002;
constexpr double kNegligibleTensorShareOfOthers = 0.05;
// A warp instruction works on 32 lanes; a fused multiply-add is two operations.
constexpr double kFlopsPerFmaInstruction = kWarpThreads * 2;
// Instructions that a multiprocessor can issue in a cycle, since Volta.
constexpr double kSchedulers = 4;
// An instruction of the FP64 pipe may be an addition, half of a fused multiply-add.
constexpr double kLeastOfDoubles = 0.5;
// Ranges fix a kernel's operations where what they leave open is less than this share of them.
constexpr double kFixedByRanges = 0.01;

constexpr const char* kTensorTypes[] = {"bf16", "fp16", "tf32", "fp8", "int8", "fp64_tensor"};

// Whether the 95 % interval lies above zero.
bool DiffersFromZero(const CounterPerLaunch& counter) {
  return counter.value > kNormal95 * counter.error;
}

// Instructions that the tensor pipes executed, one a cycle at most, if a kernel has its tensor
// cycles from packed arithmetic: 16-bit floats are worked on in pairs, by the FMA pipe and the
// tensor pipe in turn (bench/gpu/mma_rates.py). 0: it has not, since it executed fewer FMA
// instructions.
double PackedInstructions(const KernelPart& part, const Ceilings& ceilings) {
  const auto& tensor = part.counters[METRIC_TENSOR_ACTIVE];
  const auto& fma = part.counters[METRIC_FMA_INSTRUCTIONS];
  if (!tensor.has_value() || !fma.has_value()) return 0;
  const double pipe_cycles = tensor->value * kSchedulers * ceilings.multiprocessors;
  return DiffersFromZero(*tensor) && pipe_cycles <= fma->value ? pipe_cycles : 0;
}

// The middle of what may be anything from `least` × `most` to `most`; the 95 % interval holds both.
CounterPerLaunch MiddleOf(const CounterPerLaunch& most, double least) {
  const double middle = (1 + least) / 2;
  const double possible = (1 - middle) * most.value / kNormal95;
  return {middle * most.value, std::hypot(middle * most.error, possible),
          std::hypot(middle * most.assumed, possible)};
}

// The most operations of a lane that FMA instructions can do. Packed ones do two: at most twice as
// many as the tensor pipe took over, which do two each as well.
double MostInstructions(double fma, double packed) {
  return fma + std::min(fma, 2 * packed) + 2 * packed;
}

// Whether the cycles are the kernel's own work. Those of a matrix kernel count even if they may be
// nothing: to report no FLOPs would be a claim, and their error shows the doubt.
bool AreOfTensorWork(const Kernel& kernel, const CounterPerLaunch& cycles, double elapsed_cycles) {
  if (!IsMatrixKernel(kernel.mangled_name)) {
    // Packed arithmetic moves the pipe's counter too.
    if (IsElementwiseKernel(kernel.mangled_name)) return false;
    return cycles.value > cycles.error &&
           cycles.value >= kNegligibleTensorShareOfOthers * elapsed_cycles;
  }
  if (IsSinglePrecisionMatrixKernel(kernel.mangled_name) && !DiffersFromZero(cycles)) return false;
  return cycles.value + kNormal95 * cycles.error >= kNegligibleTensorShare * elapsed_cycles;
}

void AddTensor(const Kernel& kernel, const CounterPerLaunch& cycles, const std::string& data_type,
               bool assumed, double mean_time_ns, const Ceilings& ceilings, KernelWork* work) {
  const auto per_cycle = ceilings.FlopsPerCycle(data_type);
  if (!per_cycle.has_value()) return;
  if (!AreOfTensorWork(kernel, cycles, mean_time_ns * 1e-9 * ceilings.clock_hz)) return;
  work->flops.push_back({.data_type = data_type,
                         .flops = cycles.value * *per_cycle,
                         .error = cycles.error * *per_cycle,
                         .assumed_error = cycles.assumed * *per_cycle,
                         .source = SOURCE_SAMPLED,
                         .assumed = assumed,
                         .by_pipe = false});
}

void ScaleByInstructions(const Kernel& kernel, const std::string& data_type, bool warp_mma,
                         const Ceilings& ceilings, CounterPerLaunch* cycles) {
  const TensorInstructions named = TensorInstructionsOf(kernel.mangled_name);
  const TensorRate rate = warp_mma && named == TensorInstructions::kUnknown
                              ? TensorRateOfSomeWarps(ceilings.chip, data_type)
                              : TensorRateOf(ceilings.chip, named, data_type);
  const double of_rate = cycles->value * rate.half_width / kNormal95;
  cycles->error = std::hypot(cycles->error * rate.share, of_rate);
  cycles->assumed = std::hypot(cycles->assumed * rate.share, of_rate);
  cycles->value *= rate.share;
}

// The tensor pipe's sub-pipes tell doubles and integers apart; the rest is what the name says.
void AddTensorTypes(const Kernel& kernel, const KernelPart& part, double mean_time_ns,
                    const Ceilings& ceilings, const std::string& fallback_type, bool warp_mma,
                    KernelWork* work) {
  const auto& tensor = part.counters[METRIC_TENSOR_ACTIVE];
  if (!tensor.has_value()) return;
  CounterPerLaunch rest = *tensor;
  for (const auto& [role, data_type] : {std::pair(METRIC_TENSOR_DMMA_ACTIVE, "fp64_tensor"),
                                        std::pair(METRIC_TENSOR_IMMA_ACTIVE, "int8")}) {
    const auto& cycles = part.counters[role];
    if (!cycles.has_value() || cycles->value < 0.5 * tensor->value) continue;
    CounterPerLaunch scaled = *cycles;
    ScaleByInstructions(kernel, data_type, warp_mma, ceilings, &scaled);
    AddTensor(kernel, scaled, data_type, false, mean_time_ns, ceilings, work);
    rest.value -= cycles->value;
  }
  const bool by_type = !work->flops.empty();
  if (rest.value < 0 || (by_type && rest.value <= rest.error)) return;
  if (PackedInstructions(part, ceilings) > 0) {
    // Attention has kernels of either kind, and its name does not tell which.
    if (!IsMatrixKernel(kernel.mangled_name)) return;
    rest = MiddleOf(rest, 0);
  }
  const std::string data_type = TensorTypeFor(kernel, fallback_type);
  ScaleByInstructions(kernel, data_type, warp_mma, ceilings, &rest);
  AddTensor(kernel, rest, data_type, true, mean_time_ns, ceilings, work);
}

// Between the bounds everything is as likely.
void AddBounded(const char* data_type, double least, double most, const CounterPerLaunch& fma,
                KernelWork* work) {
  if (most <= 0) return;
  const double middle = (least + most) / 2;
  const double error = (most - least) / 2 / kNormal95;
  const double assumed = fma.value > 0 ? middle * fma.assumed / fma.value : 0;
  work->flops.push_back({.data_type = data_type,
                         .flops = middle,
                         .error = error,
                         .assumed_error = std::min(error, assumed),
                         .source = SOURCE_SAMPLED,
                         .assumed = false,
                         .by_pipe = true,
                         .by_code = true});
}

void AddPipes(const Kernel& kernel, const KernelPart& part, const Ceilings& ceilings,
              const std::optional<FlopBounds>& by_code, KernelWork* work) {
  const auto& fma = part.counters[METRIC_FMA_INSTRUCTIONS];
  if (fma.has_value() && by_code.has_value()) {
    AddBounded("fp32", by_code->fp32_least, by_code->fp32_most, *fma, work);
    AddBounded("fp16", by_code->half_least, by_code->half_most, *fma, work);
  } else if (fma.has_value() && DiffersFromZero(*fma) &&
             !IsDataMovementKernel(kernel.mangled_name)) {
    const double most = MostInstructions(fma->value, PackedInstructions(part, ceilings));
    work->flops.push_back(
        {.data_type = "fp32",
         .flops = most * kFlopsPerFmaInstruction,
         .error = most / fma->value * fma->error * kFlopsPerFmaInstruction,
         .assumed_error = most / fma->value * fma->assumed * kFlopsPerFmaInstruction,
         .source = SOURCE_SAMPLED,
         .assumed = true,
         .by_pipe = true});
  }
  const auto& fp64 = part.counters[METRIC_FP64_ACTIVE];
  const auto per_cycle = ceilings.FlopsPerCycle("fp64");
  if (fp64.has_value() && per_cycle.has_value() && DiffersFromZero(*fp64)) {
    work->flops.push_back({.data_type = "fp64",
                           .flops = fp64->value * *per_cycle,
                           .error = fp64->error * *per_cycle,
                           .assumed_error = fp64->assumed * *per_cycle,
                           .source = SOURCE_SAMPLED,
                           .assumed = true,
                           .by_pipe = true});
  }
}

// What the FMA pipe executes may be anything from all fused multiply-adds to none: addresses,
// comparisons, conversions. Only products of single precision are known to be nothing else. The
// FP64 pipe adds or multiplies at the least, unless it stands beside tensor work.
void WidenPipeErrors(const Kernel& kernel, KernelWork* work) {
  const bool tensor = std::any_of(work->flops.begin(), work->flops.end(),
                                  [](const TypedFlops& flops) { return !flops.by_pipe; });
  if (!tensor && IsSinglePrecisionMatrixKernel(kernel.mangled_name)) return;
  for (TypedFlops& flops : work->flops) {
    if (!flops.by_pipe || flops.by_code) continue;
    const double least = !tensor && flops.data_type == "fp64" ? kLeastOfDoubles : 0;
    const CounterPerLaunch middle =
        MiddleOf({flops.flops, flops.error, flops.assumed_error}, least);
    flops.flops = middle.value;
    flops.error = middle.error;
    flops.assumed_error = middle.assumed;
  }
}

// Without the FP64 pipe's counter, which few samples have, most of such a kernel's work is not
// seen.
void ForgetUncountedDoubles(const Kernel& kernel, const KernelPart& part, KernelWork* work) {
  if (part.counters[METRIC_FP64_ACTIVE].has_value() || !kernel.doubles) return;
  std::erase_if(work->flops, [](const TypedFlops& flops) { return flops.by_pipe; });
}

// Ranges replace what was sampled of the data types that they counted; others stay.
void ApplyCalibration(const std::map<std::string, CalibratedFlops>& calibrated, bool sampled,
                      KernelWork* work) {
  std::erase_if(work->flops, [&](const TypedFlops& flops) {
    return !flops.by_pipe && calibrated.contains(flops.data_type);
  });
  double total = 0;
  for (const TypedFlops& flops : work->flops) total += flops.by_pipe ? 0 : flops.flops;
  for (const auto& [data_type, operations] : calibrated) total += operations.per_launch;
  for (const auto& [data_type, operations] : calibrated) {
    const double most = operations.per_launch + kNormal95 * operations.error;
    if (most <= kFixedByRanges * total || most <= 0) continue;
    // Without samples nothing divides a range's count among its kernels.
    if (!sampled && operations.per_launch <= kNormal95 * operations.error) continue;
    const bool fixed = operations.error <= kFixedByRanges * operations.per_launch;
    work->flops.push_back({.data_type = data_type,
                           .flops = operations.per_launch,
                           .error = operations.error,
                           .assumed_error = operations.assumed,
                           .source = fixed ? SOURCE_RANGE : SOURCE_CALIBRATED,
                           .assumed = false,
                           .by_pipe = false});
  }
}

}  // namespace

std::string TensorTypeFor(const Kernel& kernel, const std::string& fallback) {
  const std::string_view named = TensorDataTypeOf(kernel.mangled_name);
  if (!named.empty()) return std::string(named);
  // Peaks of both half types are the same, so that a wrong guess among them costs nothing.
  const bool half = IsOfSomeHalfType(kernel.mangled_name);
  return half && fallback != "bf16" ? "fp16" : fallback;
}

KernelWork WorkOf(const Kernel& kernel, const KernelPart& part, double mean_time_ns,
                  const Ceilings& ceilings, const std::string& fallback_type,
                  const KernelCalibration& calibration, const std::optional<FlopBounds>& by_code) {
  KernelWork work;
  work.read_bytes = part.counters[METRIC_DRAM_READ_BYTES];
  work.write_bytes = part.counters[METRIC_DRAM_WRITE_BYTES];
  work.l2_bytes = part.counters[METRIC_L2_BYTES];
  work.sm_active_cycles = part.counters[METRIC_SM_CYCLES_ACTIVE];
  work.tensor_active_cycles = part.counters[METRIC_TENSOR_ACTIVE];
  AddTensorTypes(kernel, part, mean_time_ns, ceilings, fallback_type, calibration.warp_mma, &work);
  AddPipes(kernel, part, ceilings, by_code, &work);
  if (!calibration.operations.empty()) {
    ApplyCalibration(calibration.operations, work.tensor_active_cycles.has_value(), &work);
  }
  ForgetUncountedDoubles(kernel, part, &work);
  WidenPipeErrors(kernel, &work);
  return work;
}

KernelPrior PriorOf(const Kernel& kernel, const KernelWork& work, const Ceilings& ceilings,
                    double mean_time_ns) {
  KernelPrior kernel_prior;
  const TensorInstructions instructions = TensorInstructionsOf(kernel.mangled_name);
  kernel_prior.warp_mma = instructions != TensorInstructions::kUnknown &&
                          instructions != TensorInstructions::kWarpGroups;
  kernel_prior.instructions_known = instructions != TensorInstructions::kUnknown;
  auto& priors = kernel_prior.by_type;
  double tensor_cycles = 0;
  for (const TypedFlops& flops : work.flops) {
    if (flops.by_pipe) continue;
    priors[flops.data_type] = {flops.flops, flops.error,
                               std::hypot(flops.error, kTypeSpread * flops.flops),
                               flops.assumed_error};
    tensor_cycles += flops.flops / ceilings.FlopsPerCycle(flops.data_type).value_or(1);
  }
  const bool sampled = work.tensor_active_cycles.has_value();
  for (const char* data_type : kTensorTypes) {
    if (priors.contains(data_type)) continue;
    // Without samples all that is known is that a launch cannot outdo the peak.
    const double bound = ceilings.FlopsPerSecond(data_type).value_or(1e15) * mean_time_ns * 1e-9;
    if (!sampled) {
      priors[data_type] = {0, bound, bound, bound};
    } else if (tensor_cycles > 0) {
      const double as_this = tensor_cycles * ceilings.FlopsPerCycle(data_type).value_or(0);
      priors[data_type] = {0, 0, kTypeSpread * as_this};
    }
  }
  return kernel_prior;
}

}  // namespace utlz
