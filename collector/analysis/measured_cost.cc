#include "collector/analysis/measured_cost.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "collector/windows/window_gaps.h"

namespace utlz {
namespace {

constexpr uint32_t kLeastWindows = 4;
// In a gap with fewer operations, how long one takes is not known well.
constexpr uint64_t kLeastGapOperations = 20;

struct Sums {
  double excess_ns = 0;
  double excess_squared = 0;
  double time_ns = 0;
  double window_ns = 0;
  uint32_t windows = 0;
};

void Add(const WindowGaps::Stretch& before, const WindowGaps::Stretch& window, Sums* sums) {
  if (!before.gap_operations.has_value() || !window.gap_operations.has_value()) return;
  const uint64_t gap_operations = *before.gap_operations + *window.gap_operations;
  if (gap_operations < kLeastGapOperations) return;
  const auto gap_ns = static_cast<double>(before.gap_ns + window.gap_ns);
  const double untraced_ns =
      static_cast<double>(window.window_operations) * gap_ns / static_cast<double>(gap_operations);
  const double excess_ns = static_cast<double>(window.window_ns) - untraced_ns;
  sums->excess_ns += excess_ns;
  sums->excess_squared += excess_ns * excess_ns;
  sums->time_ns += static_cast<double>(window.window_ns) + gap_ns / 2;
  sums->window_ns += static_cast<double>(window.window_ns);
  ++sums->windows;
}

// By how much 97.5 % of Student's t lie further out than 97.5 % of the normal distribution, for the
// few windows of a short run. Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5;
// within 1 % from three degrees of freedom on.
double StudentWidening(double degrees_of_freedom) {
  constexpr double kZ = 1.959964;
  constexpr double kZ2 = kZ * kZ;
  const double n = degrees_of_freedom;
  const double first = (kZ2 + 1) / 4;
  const double second = ((5 * kZ2 + 16) * kZ2 + 3) / 96;
  const double third = (((3 * kZ2 + 19) * kZ2 + 17) * kZ2 - 15) / 384;
  return 1 + first / n + second / (n * n) + third / (n * n * n);
}

}  // namespace

std::optional<MeasuredCost> MeasureCost(const WindowTimes& windows) {
  const std::vector<WindowGaps::Stretch> stretches = WindowGaps(windows).Stretches();
  Sums sums;
  for (size_t i = 1; i < stretches.size(); ++i) Add(stretches[i - 1], stretches[i], &sums);
  if (sums.windows < kLeastWindows) return std::nullopt;
  const auto count = static_cast<double>(sums.windows);
  const double mean_ns = sums.excess_ns / count;
  const double variance = (sums.excess_squared - count * mean_ns * mean_ns) / (count - 1);
  const double error_ns = StudentWidening(count - 1) * std::sqrt(std::max(0.0, variance) * count);
  return MeasuredCost{.share = sums.excess_ns / sums.time_ns,
                      .standard_error = error_ns / sums.time_ns,
                      .window_ns = sums.window_ns,
                      .window_share = sums.excess_ns / sums.window_ns,
                      .window_standard_error = error_ns / sums.window_ns,
                      .windows = sums.windows};
}

std::optional<MeasuredCost> MeasureCost(const RunState& state) {
  std::optional<MeasuredCost> costliest;
  for (const auto& [source, process] : state.processes.processes()) {
    const std::optional<MeasuredCost> cost = MeasureCost(process->windows);
    if (cost.has_value() && (!costliest.has_value() || cost->share > costliest->share)) {
      costliest = cost;
    }
  }
  return costliest;
}

std::optional<MeasuredCost> MeasureCostOn(const RunState& state, uint32_t device) {
  std::optional<uint32_t> only;
  for (const Kernel& kernel : state.kernels.kernels()) {
    if (kernel.device != device) continue;
    for (const KernelShare& share : kernel.shares) {
      if (only.has_value() && share.source != *only) return std::nullopt;
      only = share.source;
    }
  }
  if (!only.has_value()) return std::nullopt;
  const auto found = state.processes.processes().find(*only);
  if (found == state.processes.processes().end()) return std::nullopt;
  return MeasureCost(found->second->windows);
}

}  // namespace utlz
