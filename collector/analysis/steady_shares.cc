#include "collector/analysis/steady_shares.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace utlz {
namespace {

double HeldNs(const BoundedSeries& series, uint64_t start_ns, uint64_t end_ns) {
  const std::optional<BoundedSeries::Estimate> estimate = series.EstimateBetween(start_ns, end_ns);
  return estimate.has_value() ? estimate->held_ns : 0;
}

// A kernel has no series where 512 others have taken more time. Its first and last launch then say
// whether all of it lies in the steps or none; of any other, the device's share is the best guess.
double ShareWithoutSeries(const Kernel& kernel, const StepsSpan& steps, double of_all) {
  if (kernel.first_start_ns == 0) return of_all;
  if (kernel.last_start_ns < steps.start_ns || kernel.first_start_ns >= steps.end_ns) return 0;
  const bool all = kernel.first_start_ns >= steps.start_ns && kernel.last_start_ns < steps.end_ns;
  return all ? 1 : of_all;
}

// A series may lack what its kernel did before it began. If it began before the steps did, all of
// that was start-up.
double ShareOf(const KernelSeries& kernels, uint32_t kernel, const StepsSpan& steps,
               double otherwise) {
  const auto found = kernels.series().find(kernel);
  if (found == kernels.series().end()) return otherwise;
  const BoundedSeries& series = found->second;
  const double held_ns = HeldNs(series, 0, UINT64_MAX);
  if (held_ns <= 0) return otherwise;
  const double earlier_ns = std::max(0.0, static_cast<double>(kernels.TimeNs(kernel)) - held_ns);
  const double earlier_share = series.start_ns() < steps.start_ns ? 0 : otherwise;
  return (HeldNs(series, steps.start_ns, steps.end_ns) + earlier_share * earlier_ns) /
         (held_ns + earlier_ns);
}

// What the shares of a device's rows have to be multiplied by, since its timelines are coarse.
std::vector<double> Corrections(const RunState& state, const Analysis& analysis) {
  std::vector<double> all_ns(analysis.devices.size(), 0);
  std::vector<double> steady_ns(analysis.devices.size(), 0);
  for (const KernelRow& row : analysis.rows) {
    const uint32_t device = state.kernels[row.kernel].device;
    const auto time_ns = static_cast<double>(row.durations.sum_ns());
    all_ns[device] += time_ns;
    steady_ns[device] += time_ns * row.traced_steady_share;
  }
  std::vector<double> corrections(analysis.devices.size(), 1);
  for (size_t i = 0; i < corrections.size(); ++i) {
    if (steady_ns[i] <= 0) continue;
    corrections[i] = all_ns[i] * analysis.devices[i].part.kernel_share / steady_ns[i];
  }
  return corrections;
}

// Launches that were traced outside of the steps stay outside.
double ShareOfRun(const KernelRow& row, const DevicePart& part) {
  if (row.time_ns <= 0) return row.traced_steady_share;
  const double traced_ns = row.own_share * static_cast<double>(row.durations.sum_ns());
  const double inside_ns = part.kernel_scale * row.traced_steady_share * traced_ns;
  const double outside_ns = (1 - row.traced_steady_share) * traced_ns;
  return std::clamp(inside_ns / row.time_ns, 0.0, std::max(0.0, 1 - outside_ns / row.time_ns));
}

}  // namespace

void SetSteadyShares(const RunState& state, Analysis* analysis) {
  if (!analysis->steady.steps.has_value()) return;
  for (KernelRow& row : analysis->rows) {
    const uint32_t device = state.kernels[row.kernel].device;
    const StepsSpan& steps = *analysis->steady.steps;
    row.traced_steady_share =
        ShareOf(state.devices[device].kernel_series, row.kernel, steps,
                ShareWithoutSeries(state.kernels[row.kernel], steps,
                                   analysis->devices[device].part.kernel_share));
  }
  const std::vector<double> corrections = Corrections(state, *analysis);
  for (KernelRow& row : analysis->rows) {
    const uint32_t device = state.kernels[row.kernel].device;
    row.traced_steady_share = std::clamp(row.traced_steady_share * corrections[device], 0.0, 1.0);
    row.steady_share = ShareOfRun(row, analysis->devices[device].part);
  }
}

}  // namespace utlz
