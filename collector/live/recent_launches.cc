#include "collector/live/recent_launches.h"

#include <algorithm>

namespace utlz {

LaunchSums RecentLaunches::Growth(size_t index) const {
  LaunchSums now = states_.newest()[index];
  if (!states_.spans() || index >= states_.oldest().size()) return now;
  const LaunchSums& then = states_.oldest()[index];
  // What a process contributed goes when it has ended and room is needed.
  now.launches -= std::min(now.launches, then.launches);
  now.time_ns -= std::min(now.time_ns, then.time_ns);
  return now;
}

std::vector<uint32_t> RecentLaunches::Longest(size_t most,
                                              const std::function<bool(uint32_t)>& counts) const {
  std::vector<std::pair<uint64_t, uint32_t>> times;
  for (uint32_t i = 0; i < size(); ++i) {
    const uint64_t time_ns = Growth(i).time_ns;
    if (time_ns > 0 && counts(i)) times.emplace_back(time_ns, i);
  }
  most = std::min(times.size(), most);
  std::partial_sort(times.begin(), times.begin() + static_cast<ptrdiff_t>(most), times.end(),
                    [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : a.second < b.second;
                    });
  std::vector<uint32_t> longest;
  for (size_t i = 0; i < most; ++i) longest.push_back(times[i].second);
  return longest;
}

}  // namespace utlz
