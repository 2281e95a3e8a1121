#include "collector/steps/step_drift.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace utlz {
namespace {

constexpr size_t kQuarters = 4;
constexpr size_t kFewestInAQuarter = 5;
// Less is no matter for a report.
constexpr double kWorthSaying = 1.05;

struct Middle {
  double lower_ns = 0;  // a quarter of the steps is shorter
  double median_ns = 0;
  double upper_ns = 0;  // a quarter of them is longer
};

Middle MiddleOf(std::vector<double> lengths_ns) {
  std::sort(lengths_ns.begin(), lengths_ns.end());
  const size_t size = lengths_ns.size();
  return {lengths_ns[size / 4], lengths_ns[size / 2], lengths_ns[size - 1 - size / 4]};
}

}  // namespace

// From quarter to quarter the median grows, and the middle half of the last quarter's steps is
// longer than that of the first one's.
std::optional<StepDrift> FindDrift(const std::vector<Step>& steps, size_t warmup) {
  if (steps.size() <= warmup) return std::nullopt;
  const uint64_t start_ns = steps[warmup].start_ns;
  const uint64_t span_ns = steps.back().start_ns - start_ns + 1;
  std::array<std::vector<double>, kQuarters> quarters;
  for (size_t i = warmup; i < steps.size(); ++i) {
    const auto quarter = static_cast<size_t>(static_cast<double>(steps[i].start_ns - start_ns) /
                                             static_cast<double>(span_ns) * kQuarters);
    quarters[std::min(quarter, kQuarters - 1)].push_back(steps[i].length_ns());
  }
  std::array<Middle, kQuarters> middles;
  for (size_t i = 0; i < kQuarters; ++i) {
    if (quarters[i].size() < kFewestInAQuarter) return std::nullopt;
    middles[i] = MiddleOf(std::move(quarters[i]));
    if (i > 0 && middles[i].median_ns <= middles[i - 1].median_ns) return std::nullopt;
  }
  const Middle& first = middles.front();
  const Middle& last = middles.back();
  if (last.lower_ns <= first.upper_ns || last.median_ns < kWorthSaying * first.median_ns) {
    return std::nullopt;
  }
  return StepDrift{first.median_ns, last.median_ns};
}

}  // namespace utlz
