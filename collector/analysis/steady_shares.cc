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

double ShareOf(const KernelSeries& kernels, uint32_t kernel, const StepsSpan& steps,
               double otherwise) {
  const auto found = kernels.series().find(kernel);
  if (found == kernels.series().end()) return otherwise;
  const double all_ns = HeldNs(found->second, 0, UINT64_MAX);
  return all_ns > 0 ? HeldNs(found->second, steps.start_ns, steps.end_ns) / all_ns : otherwise;
}

// What the shares of a device's rows have to be multiplied by, since its timelines are coarse.
std::vector<double> Corrections(const RunState& state, const Analysis& analysis) {
  std::vector<double> all_ns(analysis.devices.size(), 0);
  std::vector<double> steady_ns(analysis.devices.size(), 0);
  for (const KernelRow& row : analysis.rows) {
    const uint32_t device = state.kernels[row.kernel].device;
    const auto time_ns = static_cast<double>(row.durations.sum_ns());
    all_ns[device] += time_ns;
    steady_ns[device] += time_ns * row.steady_share;
  }
  std::vector<double> corrections(analysis.devices.size(), 1);
  for (size_t i = 0; i < corrections.size(); ++i) {
    if (steady_ns[i] <= 0) continue;
    corrections[i] = all_ns[i] * analysis.devices[i].part.kernel_share / steady_ns[i];
  }
  return corrections;
}

}  // namespace

void SetSteadyShares(const RunState& state, Analysis* analysis) {
  if (!analysis->steady.steps.has_value()) return;
  for (KernelRow& row : analysis->rows) {
    const uint32_t device = state.kernels[row.kernel].device;
    row.steady_share =
        ShareOf(state.devices[device].kernel_series, row.kernel, *analysis->steady.steps,
                analysis->devices[device].part.kernel_share);
  }
  const std::vector<double> corrections = Corrections(state, *analysis);
  for (KernelRow& row : analysis->rows) {
    const double correction = corrections[state.kernels[row.kernel].device];
    row.steady_share = std::clamp(row.steady_share * correction, 0.0, 1.0);
  }
}

}  // namespace utlz
