#include "collector/attribution/duration_clusters.h"

#include <algorithm>

namespace utlz::attribution {
namespace {

constexpr double kGapRatio = 1.2;
constexpr size_t kFewestLaunches = 4;
constexpr double kSmallestShare = 0.05;

}  // namespace

std::vector<int64_t> SeparateDurations(std::vector<int64_t> durations_ns) {
  std::sort(durations_ns.begin(), durations_ns.end());
  const size_t fewest =
      std::max(kFewestLaunches,
               static_cast<size_t>(kSmallestShare * static_cast<double>(durations_ns.size())));
  std::vector<int64_t> separators;
  size_t cluster_begin = 0;
  for (size_t i = 1; i < durations_ns.size(); ++i) {
    const auto below = static_cast<double>(durations_ns[i - 1]);
    const auto above = static_cast<double>(durations_ns[i]);
    if (above < kGapRatio * below) continue;
    if (i - cluster_begin < fewest || durations_ns.size() - i < fewest) continue;
    separators.push_back(static_cast<int64_t>((below + above) / 2));
    cluster_begin = i;
    if (separators.size() + 1 == kMaxDurationClusters) break;
  }
  return separators;
}

}  // namespace utlz::attribution
