#include "collector/model/kernel_work.h"

#include <algorithm>
#include <cmath>

#include "collector/model/kernel_class.h"

namespace utlz {
namespace {

// Tensor cycles below these shares of a kernel's time are spill from its neighbours: the first for
// kernels whose names speak of matrix products, the second for all others.
constexpr double kNegligibleTensorShare = 0.002;
constexpr double kNegligibleTensorShareOfOthers = 0.05;
// A warp instruction works on 32 lanes; a fused multiply-add is two operations.
constexpr double kFlopsPerFmaInstruction = 32 * 2;
// Ranges fix a kernel's operations where what they leave open is less than this share of them.
constexpr double kFixedByRanges = 0.01;
// How far attributed FLOPs, and data types that a name implies, may be off before ranges are seen.
constexpr double kAttributionSpread = 0.3;
constexpr double kTypeSpread = 0.5;

constexpr const char* kTensorTypes[] = {"bf16", "fp16", "tf32", "fp8", "int8", "fp64_tensor"};

void AddTensor(const Kernel& kernel, const CounterPerLaunch& cycles, const std::string& data_type,
               bool assumed, double mean_time_ns, const Ceilings& ceilings, KernelWork* work) {
  const auto per_cycle = ceilings.FlopsPerCycle(data_type);
  if (!per_cycle.has_value()) return;
  const double elapsed = mean_time_ns * 1e-9 * ceilings.clock_hz;
  const double negligible = IsMatrixKernel(kernel.mangled_name) ? kNegligibleTensorShare
                                                                : kNegligibleTensorShareOfOthers;
  if (cycles.value <= cycles.error || cycles.value < negligible * elapsed) return;
  work->flops.push_back({.data_type = data_type,
                         .flops = cycles.value * *per_cycle,
                         .error = cycles.error * *per_cycle,
                         .source = SOURCE_SAMPLED,
                         .assumed = assumed,
                         .upper_bound = false});
}

// The tensor pipe's sub-pipes tell doubles and integers apart; the rest is what the name says.
void AddTensorTypes(const Kernel& kernel, const KernelPart& part, double mean_time_ns,
                    const Ceilings& ceilings, const std::string& fallback_type, KernelWork* work) {
  const auto& tensor = part.counters[METRIC_TENSOR_ACTIVE];
  if (!tensor.has_value()) return;
  CounterPerLaunch rest = *tensor;
  for (const auto& [role, data_type] :
       {std::pair(METRIC_TENSOR_DMMA_ACTIVE, "fp64_tensor"), std::pair(METRIC_TENSOR_IMMA_ACTIVE, "int8")}) {
    const auto& cycles = part.counters[role];
    if (!cycles.has_value() || cycles->value < 0.5 * tensor->value) continue;
    AddTensor(kernel, *cycles, data_type, false, mean_time_ns, ceilings, work);
    rest.value -= cycles->value;
  }
  if (UsesWarpMma(kernel.mangled_name)) {
    rest.value *= ceilings.warp_mma_share;
    rest.error *= ceilings.warp_mma_share;
  }
  AddTensor(kernel, rest, TensorTypeFor(kernel, fallback_type), true, mean_time_ns, ceilings, work);
}

// Whether the 95 % interval lies above zero: of what may be nothing, no FLOPs are claimed.
bool DiffersFromZero(const CounterPerLaunch& counter) {
  constexpr double kNormal95 = 1.959964;
  return counter.value > kNormal95 * counter.error;
}

void AddPipes(const Kernel& kernel, const KernelPart& part, const Ceilings& ceilings, KernelWork* work) {
  const auto& fma = part.counters[METRIC_FMA_INSTRUCTIONS];
  if (fma.has_value() && DiffersFromZero(*fma) && !IsDataMovementKernel(kernel.mangled_name)) {
    work->flops.push_back({.data_type = "fp32",
                           .flops = fma->value * kFlopsPerFmaInstruction,
                           .error = fma->error * kFlopsPerFmaInstruction,
                           .source = SOURCE_SAMPLED,
                           .assumed = true,
                           .upper_bound = true});
  }
  const auto& fp64 = part.counters[METRIC_FP64_ACTIVE];
  const auto per_cycle = ceilings.FlopsPerCycle("fp64");
  if (fp64.has_value() && per_cycle.has_value() && DiffersFromZero(*fp64)) {
    work->flops.push_back({.data_type = "fp64",
                           .flops = fp64->value * *per_cycle,
                           .error = fp64->error * *per_cycle,
                           .source = SOURCE_SAMPLED,
                           .assumed = true,
                           .upper_bound = true});
  }
}

// Ranges replace what was assumed of tensor operations; other types stay.
void ApplyCalibration(const std::map<std::string, CalibratedOperations>& calibrated,
                      KernelWork* work) {
  std::erase_if(work->flops, [](const TypedFlops& flops) { return !flops.upper_bound; });
  double total = 0;
  for (const auto& [data_type, operations] : calibrated) total += operations.per_launch;
  for (const auto& [data_type, operations] : calibrated) {
    // Too little to be more than what the equations leave open.
    if (operations.per_launch <= std::max(operations.error, kFixedByRanges * total)) continue;
    const bool fixed = operations.error <= kFixedByRanges * operations.per_launch;
    work->flops.push_back({.data_type = data_type,
                           .flops = operations.per_launch,
                           .error = operations.error,
                           .source = fixed ? SOURCE_RANGE : SOURCE_CALIBRATED,
                           .assumed = false,
                           .upper_bound = false});
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
                  const std::map<std::string, CalibratedOperations>* calibrated) {
  KernelWork work;
  work.read_bytes = part.counters[METRIC_DRAM_READ_BYTES];
  work.write_bytes = part.counters[METRIC_DRAM_WRITE_BYTES];
  work.l2_bytes = part.counters[METRIC_L2_BYTES];
  work.sm_active_cycles = part.counters[METRIC_SM_CYCLES_ACTIVE];
  work.tensor_active_cycles = part.counters[METRIC_TENSOR_ACTIVE];
  AddTensorTypes(kernel, part, mean_time_ns, ceilings, fallback_type, &work);
  AddPipes(kernel, part, ceilings, &work);
  if (calibrated != nullptr) ApplyCalibration(*calibrated, &work);
  return work;
}

std::map<std::string, RangeCalibration::Belief> BeliefOf(const KernelWork& work,
                                                         const Ceilings& ceilings,
                                                         double mean_time_ns) {
  std::map<std::string, RangeCalibration::Belief> beliefs;
  double tensor_flops = 0;
  for (const TypedFlops& flops : work.flops) {
    if (flops.upper_bound) continue;
    tensor_flops += flops.flops;
    beliefs[flops.data_type] = {flops.flops, kAttributionSpread * flops.flops + flops.error};
  }
  const bool sampled = work.tensor_active_cycles.has_value();
  for (const char* data_type : kTensorTypes) {
    // Without samples all that is known is that a launch cannot outdo the peak.
    const double bound = ceilings.FlopsPerSecond(data_type).value_or(1e15) * mean_time_ns * 1e-9;
    const double spread = sampled ? kTypeSpread * tensor_flops : bound;
    const auto found = beliefs.find(data_type);
    if (found == beliefs.end()) {
      if (spread > 0) beliefs[data_type] = {0, spread};
    } else {
      found->second.spread = std::max(found->second.spread, kTypeSpread * found->second.per_launch);
    }
  }
  return beliefs;
}

}  // namespace utlz
