#include "collector/attribution/duration_clusters.h"

#include <algorithm>

namespace utlz::attribution {
namespace {

constexpr double kGapRatio = 1.2;
constexpr size_t kFewestLaunches = 4;
// Of the launches or of their time: few that take long weigh as much as many short ones.
constexpr double kSmallestShare = 0.05;

// The launches of [begin, end), of durations that ascend and whose sums to each are known.
struct Totals {
  std::vector<double> sums_ns{0};

  explicit Totals(const std::vector<int64_t>& durations_ns) {
    for (const int64_t duration : durations_ns) {
      sums_ns.push_back(sums_ns.back() + static_cast<double>(duration));
    }
  }

  bool Enough(size_t begin, size_t end) const {
    if (end - begin < kFewestLaunches) return false;
    const size_t all = sums_ns.size() - 1;
    return static_cast<double>(end - begin) >= kSmallestShare * static_cast<double>(all) ||
           sums_ns[end] - sums_ns[begin] >= kSmallestShare * sums_ns[all];
  }
};

}  // namespace

std::vector<int64_t> SeparateDurations(std::vector<int64_t> durations_ns) {
  std::sort(durations_ns.begin(), durations_ns.end());
  const Totals totals(durations_ns);
  std::vector<int64_t> separators;
  size_t cluster_begin = 0;
  for (size_t i = 1; i < durations_ns.size(); ++i) {
    const auto below = static_cast<double>(durations_ns[i - 1]);
    const auto above = static_cast<double>(durations_ns[i]);
    if (above < kGapRatio * below) continue;
    if (!totals.Enough(cluster_begin, i) || !totals.Enough(i, durations_ns.size())) continue;
    separators.push_back(static_cast<int64_t>((below + above) / 2));
    cluster_begin = i;
    if (separators.size() + 1 == kMaxDurationClusters) break;
  }
  return separators;
}

}  // namespace utlz::attribution
