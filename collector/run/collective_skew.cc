#include "collector/run/collective_skew.h"

#include <algorithm>
#include <utility>

namespace utlz {
namespace {

// How far apart the kernels of one collective may end: clocks and the last hops of a ring.
constexpr uint64_t kEndsApartNs = 50'000;
constexpr uint64_t kEndsApartShare = 10;  // or this part of the longest kernel

}  // namespace

void CollectiveSkew::Add(uint32_t source, uint64_t start_ns, uint64_t end_ns) {
  time_ns_[source] += end_ns - start_ns;
  if (count_ >= kMaxArrivals) return;
  ++count_;
  arrivals_[source].push_back({start_ns, end_ns});
}

std::map<uint32_t, ProcessSkew> CollectiveSkew::Summarize() const {
  std::map<uint32_t, ProcessSkew> result;
  for (const auto& [source, time_ns] : time_ns_) result[source].communication_ns = time_ns;
  if (arrivals_.size() < 2) return result;
  std::map<uint32_t, std::vector<Arrival>> by_end = arrivals_;
  auto fewest = by_end.begin();
  for (auto each = by_end.begin(); each != by_end.end(); ++each) {
    std::sort(each->second.begin(), each->second.end(),
              [](const Arrival& a, const Arrival& b) { return a.end_ns < b.end_ns; });
    if (each->second.size() < fewest->second.size()) fewest = each;
  }
  for (const Arrival& arrival : fewest->second) {
    std::vector<std::pair<uint64_t, uint32_t>> starts;  // and whose
    for (const auto& [source, all] : by_end) {
      auto near = std::lower_bound(
          all.begin(), all.end(), arrival.end_ns,
          [](const Arrival& other, uint64_t end_ns) { return other.end_ns < end_ns; });
      const bool before_is_nearer =
          near != all.begin() && (near == all.end() || arrival.end_ns - (near - 1)->end_ns <
                                                           near->end_ns - arrival.end_ns);
      if (before_is_nearer) --near;
      const uint64_t apart_ns = near->end_ns > arrival.end_ns ? near->end_ns - arrival.end_ns
                                                              : arrival.end_ns - near->end_ns;
      const uint64_t longest_ns =
          std::max(arrival.end_ns - arrival.start_ns, near->end_ns - near->start_ns);
      if (apart_ns > std::max(kEndsApartNs, longest_ns / kEndsApartShare)) break;
      starts.emplace_back(near->start_ns, source);
    }
    if (starts.size() < by_end.size()) continue;
    std::sort(starts.begin(), starts.end());
    for (const auto& [start_ns, source] : starts) {
      ProcessSkew& late = result[source];
      ++late.matched;
      late.late_ns += static_cast<double>(start_ns - starts.front().first);
    }
    const uint64_t delay_ns = starts.back().first - starts[starts.size() - 2].first;
    if (delay_ns < kLateNs) continue;
    result[starts.back().second].last_share += 1;
    result[starts.back().second].delay_ns += static_cast<double>(delay_ns);
  }
  for (auto& [source, late] : result) {
    if (late.matched == 0) continue;
    late.late_ns /= static_cast<double>(late.matched);
    late.last_share /= static_cast<double>(late.matched);
  }
  return result;
}

}  // namespace utlz
