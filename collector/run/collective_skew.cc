#include "collector/run/collective_skew.h"

#include <algorithm>
#include <utility>

namespace utlz {
namespace {

// How far apart the kernels of one collective may end: clocks and the last hops of a ring.
constexpr uint64_t kEndsApartNs = 50'000;
constexpr uint64_t kEndsApartShare = 10;  // or this part of the longest kernel

using Arrivals = std::vector<CollectiveArrival>;
// When a process began a collective, and which one.
using Start = std::pair<uint64_t, uint32_t>;

// Of arrivals in order of their ends, of which there is one: the one that ended nearest to then.
const CollectiveArrival& NearestEnd(const Arrivals& arrivals, uint64_t end_ns) {
  const auto after = std::lower_bound(
      arrivals.begin(), arrivals.end(), end_ns,
      [](const CollectiveArrival& arrival, uint64_t time_ns) { return arrival.end_ns < time_ns; });
  const bool before_is_nearer =
      after != arrivals.begin() &&
      (after == arrivals.end() || end_ns - (after - 1)->end_ns < after->end_ns - end_ns);
  return before_is_nearer ? *(after - 1) : *after;
}

bool EndTogether(const CollectiveArrival& one, const CollectiveArrival& other) {
  const uint64_t apart_ns =
      other.end_ns > one.end_ns ? other.end_ns - one.end_ns : one.end_ns - other.end_ns;
  const uint64_t longest_ns = std::max(one.end_ns - one.start_ns, other.end_ns - other.start_ns);
  return apart_ns <= std::max(kEndsApartNs, longest_ns / kEndsApartShare);
}

// When each process began the collective that `arrival` is of, the first one first. Empty where a
// process has no part in it.
std::vector<Start> MatchCollective(const CollectiveArrival& arrival,
                                   const std::map<uint32_t, Arrivals>& by_end) {
  std::vector<Start> starts;
  for (const auto& [source, all] : by_end) {
    const CollectiveArrival& nearest = NearestEnd(all, arrival.end_ns);
    if (!EndTogether(arrival, nearest)) return {};
    starts.emplace_back(nearest.start_ns, source);
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

// Sums, which are divided by the number of collectives at the end.
void AddCollective(const std::vector<Start>& starts, std::map<uint32_t, ProcessSkew>* skews) {
  for (const auto& [start_ns, source] : starts) {
    ProcessSkew& skew = (*skews)[source];
    ++skew.matched;
    skew.late_ns += static_cast<double>(start_ns - starts.front().first);
  }
  const uint64_t delay_ns = starts.back().first - starts[starts.size() - 2].first;
  if (delay_ns < CollectiveSkew::kLateNs) return;
  ProcessSkew& last = (*skews)[starts.back().second];
  last.last_share += 1;
  last.delay_ns += static_cast<double>(delay_ns);
}

}  // namespace

void CollectiveSkew::Add(uint32_t source, uint64_t start_ns, uint64_t end_ns) {
  time_ns_[source] += end_ns - start_ns;
  if (count_ >= kMaxArrivals) return;
  ++count_;
  arrivals_[source].push_back({start_ns, end_ns});
}

std::map<uint32_t, ProcessSkew> CollectiveSkew::Summarize() const {
  std::map<uint32_t, ProcessSkew> skews;
  for (const auto& [source, time_ns] : time_ns_) skews[source].communication_ns = time_ns;
  if (arrivals_.size() < 2) return skews;
  std::map<uint32_t, Arrivals> by_end = arrivals_;
  auto fewest = by_end.begin();
  for (auto each = by_end.begin(); each != by_end.end(); ++each) {
    std::sort(
        each->second.begin(), each->second.end(),
        [](const CollectiveArrival& a, const CollectiveArrival& b) { return a.end_ns < b.end_ns; });
    if (each->second.size() < fewest->second.size()) fewest = each;
  }
  for (const CollectiveArrival& arrival : fewest->second) {
    const std::vector<Start> starts = MatchCollective(arrival, by_end);
    if (!starts.empty()) AddCollective(starts, &skews);
  }
  for (auto& [source, skew] : skews) {
    if (skew.matched == 0) continue;
    skew.late_ns /= static_cast<double>(skew.matched);
    skew.last_share /= static_cast<double>(skew.matched);
  }
  return skews;
}

}  // namespace utlz
