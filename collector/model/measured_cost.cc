#include "collector/model/measured_cost.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace utlz {
namespace {

constexpr uint32_t kLeastWindows = 8;
// Fewer say little about how long one takes.
constexpr uint64_t kLeastGapOperations = 20;

struct Sums {
  double excess_ns = 0;
  double excess_squared = 0;
  double time_ns = 0;
  uint32_t windows = 0;
};

void Add(const WindowTimes::Stretch& before, const WindowTimes::Stretch& window, Sums* sums) {
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
  ++sums->windows;
}

}  // namespace

std::optional<MeasuredCost> MeasureCost(const WindowTimes& windows) {
  const std::vector<WindowTimes::Stretch> stretches = windows.Stretches();
  Sums sums;
  for (size_t i = 1; i < stretches.size(); ++i) Add(stretches[i - 1], stretches[i], &sums);
  if (sums.windows < kLeastWindows) return std::nullopt;
  const auto count = static_cast<double>(sums.windows);
  const double mean_ns = sums.excess_ns / count;
  const double variance = (sums.excess_squared - count * mean_ns * mean_ns) / (count - 1);
  return MeasuredCost{.share = sums.excess_ns / sums.time_ns,
                      .standard_error = std::sqrt(std::max(0.0, variance) * count) / sums.time_ns,
                      .windows = sums.windows};
}

std::optional<MeasuredCost> MeasureCost(const ModelState& model) {
  std::optional<MeasuredCost> costliest;
  for (const auto& [source, process] : model.processes.processes()) {
    const std::optional<MeasuredCost> cost = MeasureCost(process->windows);
    if (cost.has_value() && (!costliest.has_value() || cost->share > costliest->share)) {
      costliest = cost;
    }
  }
  return costliest;
}

}  // namespace utlz
