#include "collector/analysis/device_counter_sums.h"

#include <algorithm>
#include <cmath>

#include "collector/normal_interval.h"

namespace utlz {
namespace {

// Kernels with counters stand for the others if they have at least this share of the kernel time.
constexpr double kEnoughCounted = 0.5;
// Samples stand for an extent if they cover at least this much time, and this many steps.
constexpr double kFewestSampledNs = 1e6;
constexpr double kFewestSampledSteps = 3;

// The series that holds a counter, and what its values count in a nanosecond; null: none does.
struct SeriesOfRole {
  const BoundedSeries* series = nullptr;
  double per_ns = 0;
};

SeriesOfRole SeriesOf(const DeviceView& view, MetricRole role) {
  const SampleTotals& samples = view.state.samples;
  const double cycles_per_ns = view.analysis.ceilings.clock_hz * 1e-9;
  switch (role) {
    case METRIC_SM_CYCLES_ACTIVE:
      return {&samples.sm_active_series(), cycles_per_ns};
    case METRIC_TENSOR_ACTIVE:
      return {&samples.tensor_active_series(), cycles_per_ns};
    case METRIC_DRAM_READ_BYTES:
    case METRIC_DRAM_WRITE_BYTES: {
      // The series is of both.
      const double read = samples.PerSecond(METRIC_DRAM_READ_BYTES).value_or(0);
      const double write = samples.PerSecond(METRIC_DRAM_WRITE_BYTES).value_or(0);
      const double own = role == METRIC_DRAM_READ_BYTES ? read : write;
      return {&samples.dram_series(), read + write > 0 ? own / (read + write) * 1e-9 : 0};
    }
    default:
      return {};
  }
}

// What the device's own samples say, whatever ran: those taken in the extent, else all of them,
// where they missed the traced windows of a program that works throughout.
std::optional<CounterSum> SampledSum(const DeviceView& view, const Extent& extent,
                                     MetricRole role) {
  const SeriesOfRole of = SeriesOf(view, role);
  if (of.series != nullptr) {
    const auto estimate = of.series->EstimateBetween(extent.start_ns, extent.end_ns);
    const double fewest_ns =
        std::max(kFewestSampledNs,
                 view.steps.has_value() ? kFewestSampledSteps * view.steps->usual_step_ns : 0.0);
    if (estimate.has_value() && estimate->held_ns >= fewest_ns) {
      const double error = estimate->error * of.per_ns * extent.time_ns;
      return CounterSum{.value = estimate->mean * of.per_ns * extent.time_ns,
                        .variance = error * error,
                        .other_variance = error * error};
    }
  }
  const SampleTotals& samples = view.state.samples;
  const auto per_second = samples.PerSecond(role);
  const bool enough = static_cast<double>(samples.sampled_ns()) >= kFewestSampledNs &&
                      2 * view.analysis.attribution.untraced_samples >= samples.samples();
  if (!per_second.has_value() || !enough) return std::nullopt;
  return CounterSum{*per_second * extent.time_ns * 1e-9};
}

// The least share of an extent's multiprocessor time that the kernels traced in it can have held:
// each kernel has a block on as many multiprocessors as it has blocks. Only a part of that counts,
// since concurrent kernels may share multiprocessors and the last blocks run alone.
double LeastActiveShare(const DeviceView& view, const Extent& extent, double multiprocessors) {
  constexpr double kPart = 0.1;
  constexpr double kPartOfOne = 0.5;
  double held_ns = 0;
  for (const KernelRow* row : view.rows) {
    double blocks = 1;
    for (const uint32_t size : view.run_state.kernels[row->kernel].shape.grid) blocks *= size;
    const double share =
        std::max(kPartOfOne, kPart * std::min(blocks, multiprocessors)) / multiprocessors;
    held_ns += LaunchesIn(*row, extent) * row->durations.mean_ns() * share;
  }
  return held_ns / extent.time_ns;
}

// Whether samples fell into the time of the traced kernels: if they saw fewer multiprocessors
// active than these kernels must have held, they did not.
bool SawKernels(const DeviceView& view, const Extent& extent) {
  const double multiprocessors =
      std::max(view.state.info.multiprocessors(),
               view.state.peaks.has_value() ? view.state.peaks->multiprocessors() : 0);
  const double cycles = extent.time_ns * 1e-9 * view.analysis.ceilings.clock_hz;
  const auto active = SampledSum(view, extent, METRIC_SM_CYCLES_ACTIVE);
  if (!active.has_value() || multiprocessors <= 0 || cycles <= 0) return true;
  return active->value / cycles >= LeastActiveShare(view, extent, multiprocessors);
}

std::optional<CounterSum> SumOfSamples(const DeviceView& view, const Extent& extent,
                                       MetricRole role) {
  const auto sum = SampledSum(view, extent, role);
  return sum.has_value() && SawKernels(view, extent) ? sum : std::nullopt;
}

// Tensor cycles that were counted and make no FLOPs of a kernel.
struct OtherTensorCycles {
  // Given to none: copies, idle, kernels that too few samples met. FLOPs all the same, of the type
  // that the device uses most.
  double unassigned = 0;
  double unassigned_variance = 0;
  double unassigned_assumed_variance = 0;
  // Given to kernels that are not known to do tensor work: spill of those that do, which are FLOPs,
  // and packed arithmetic of their own, which are none (kernel_work.cc).
  double uncertain = 0;
};

OtherTensorCycles OtherTensorCyclesIn(const DeviceView& view, const Extent& extent) {
  const auto counted = SumOf(view, extent, METRIC_TENSOR_ACTIVE);
  OtherTensorCycles other;
  if (!counted.has_value()) return other;
  double assigned = 0;
  for (const KernelRow* row : view.rows) {
    const bool has_flops = std::any_of(row->work.flops.begin(), row->work.flops.end(),
                                       [](const TypedFlops& flops) { return !flops.by_pipe; });
    const auto& cycles = row->work.tensor_active_cycles;
    if (!cycles.has_value()) continue;
    (has_flops ? assigned : other.uncertain) += LaunchesIn(*row, extent) * cycles->value;
  }
  other.uncertain = std::clamp(other.uncertain, 0.0, std::max(0.0, counted->value - assigned));
  other.unassigned = std::max(0.0, counted->value - assigned - other.uncertain);
  other.unassigned_variance = counted->other_variance;
  other.unassigned_assumed_variance = counted->other_assumed_variance;
  return other;
}

}  // namespace

std::optional<CounterSum> SumOf(const DeviceView& view, const Extent& extent, MetricRole role) {
  const auto& total = view.analysis.attribution.totals[role];
  // No sample met a traced launch.
  if (!total.has_value()) return SumOfSamples(view, extent, role);
  CounterSum sum;
  double known_ns = 0;
  double all_ns = 0;
  for (const KernelRow* row : view.rows) {
    const double launches = LaunchesIn(*row, extent);
    const double time_ns = row->time_ns * ShareIn(*row, extent);
    all_ns += time_ns;
    const auto& counter = row->part.counters[role];
    if (!counter.has_value()) continue;
    known_ns += time_ns;
    sum.value += launches * counter->value;
    sum.variance += launches * launches * counter->error * counter->error;
    sum.assumed_variance += launches * launches * counter->assumed * counter->assumed;
  }
  if (known_ns < kEnoughCounted * all_ns) return SumOfSamples(view, extent, role);
  if (known_ns > 0) {
    const double scale = all_ns / known_ns;
    const double others = sum.value * (scale - 1);
    sum.value += others;
    sum.other_variance = others * others / (kNormal95 * kNormal95);
    sum.other_assumed_variance = sum.other_variance;
    sum.variance = sum.variance * scale * scale + sum.other_variance;
    sum.assumed_variance = sum.assumed_variance * scale * scale + sum.other_assumed_variance;
  }
  for (const auto& [key, count] : view.state.copies.counts()) {
    const auto copy = view.analysis.attribution.copies.find(KindOfCopy(key.first, key.second));
    if (copy == view.analysis.attribution.copies.end()) continue;
    const auto& counter = copy->second.counters[role];
    if (!counter.has_value()) continue;
    const double copies = static_cast<double>(count.copies) * extent.kernel_share;
    sum.value += copies * extent.kernel_weight * counter->value;
  }
  const double sampled_ns = view.analysis.attribution.sampled_ns[role];
  if (sampled_ns > 0) {
    sum.value += (total->idle + total->unattributed) * extent.time_ns / sampled_ns;
  }
  return sum;
}

FlopsSum FlopsIn(const DeviceView& view, const Extent& extent) {
  FlopsSum result;
  for (const KernelRow* row : view.rows) {
    const double launches = LaunchesIn(*row, extent);
    for (const TypedFlops& typed : row->work.flops) {
      const double variance = launches * launches * typed.error * typed.error;
      const double assumed_variance =
          launches * launches * typed.assumed_error * typed.assumed_error;
      result.flops += launches * typed.flops;
      result.variance += variance;
      result.assumed_variance += assumed_variance;
      const auto peak = view.analysis.ceilings.FlopsPerSecond(typed.data_type);
      if (typed.by_pipe || !peak.has_value()) continue;
      result.peak_time_ns += launches * typed.flops / *peak * 1e9;
      result.peak_variance += variance / (*peak * *peak) * 1e18;
      result.peak_assumed_variance += assumed_variance / (*peak * *peak) * 1e18;
    }
  }
  const auto per_cycle = view.analysis.ceilings.FlopsPerCycle(view.analysis.fallback_type);
  const double clock_hz = view.analysis.ceilings.clock_hz;
  if (per_cycle.has_value() && clock_hz > 0) {
    const OtherTensorCycles other = OtherTensorCyclesIn(view, extent);
    const double cycles = other.unassigned + other.uncertain / 2;
    const double error = other.uncertain / 2 / kNormal95;
    const double variance = error * error + other.unassigned_variance;
    const double assumed_variance = error * error + other.unassigned_assumed_variance;
    result.flops += cycles * *per_cycle;
    result.variance += variance * *per_cycle * *per_cycle;
    result.assumed_variance += assumed_variance * *per_cycle * *per_cycle;
    result.peak_time_ns += cycles / clock_hz * 1e9;
    result.peak_variance += variance / (clock_hz * clock_hz) * 1e18;
    result.peak_assumed_variance += assumed_variance / (clock_hz * clock_hz) * 1e18;
  }
  return result;
}

bool FlopsCounted(const DeviceView& view, const Extent& extent, const FlopsSum& sum) {
  // Cycles are counted all the same, but not known to be of any kernel, and so of any data type.
  if (view.analysis.overlap_share > kMostOverlap) return false;
  if (!view.state.samples.PerSecond(METRIC_TENSOR_ACTIVE).has_value()) return sum.flops > 0;
  return SumOf(view, extent, METRIC_TENSOR_ACTIVE).has_value();
}

}  // namespace utlz
