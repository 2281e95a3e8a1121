#include "collector/run/collective_skew.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace utlz {
namespace {

// How far apart the kernels of one collective may end: clocks and the last hops of a ring.
constexpr uint64_t kEndsApartNs = 50'000;
constexpr uint64_t kEndsApartShare = 10;  // or this part of the longest kernel

// Two processes are of one group if more than this share of their collectives end together. Others
// do so by chance.
constexpr double kOfOneGroup = 0.3;
constexpr size_t kComparedArrivals = 64;

using Arrivals = std::vector<CollectiveArrival>;
using ArrivalsBySource = std::map<uint32_t, Arrivals>;
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

// Of the collectives of the time in which both communicated, the share that ended together.
double ShareTogether(const Arrivals& one, const Arrivals& other) {
  const Arrivals& fewer = one.size() < other.size() ? one : other;
  const Arrivals& more = one.size() < other.size() ? other : one;
  const uint64_t first_ns = more.front().end_ns;
  const uint64_t last_ns = more.back().end_ns;
  if (fewer.back().end_ns < first_ns || fewer.front().end_ns > last_ns) return 0;
  const auto begin = std::partition_point(
      fewer.begin(), fewer.end(), [&](const auto& arrival) { return arrival.end_ns < first_ns; });
  const auto end = std::partition_point(
      begin, fewer.end(), [&](const auto& arrival) { return arrival.end_ns <= last_ns; });
  const auto shared = static_cast<size_t>(end - begin);
  const size_t stride = shared / kComparedArrivals + 1;
  size_t compared = 0;
  size_t together = 0;
  for (size_t i = 0; i < shared; i += stride) {
    const CollectiveArrival& arrival = begin[static_cast<ptrdiff_t>(i)];
    ++compared;
    if (EndTogether(arrival, NearestEnd(more, arrival.end_ns))) ++together;
  }
  return compared == 0 ? 0 : static_cast<double>(together) / static_cast<double>(compared);
}

// Each process joins those with whose first one it has most collectives in common.
std::vector<ArrivalsBySource> GroupsOf(ArrivalsBySource by_end) {
  std::vector<ArrivalsBySource> groups;
  for (auto& [source, arrivals] : by_end) {
    ArrivalsBySource* own = nullptr;
    double most = kOfOneGroup;
    for (ArrivalsBySource& group : groups) {
      const double share = ShareTogether(arrivals, group.begin()->second);
      if (share <= most) continue;
      own = &group;
      most = share;
    }
    if (own == nullptr) own = &groups.emplace_back();
    own->emplace(source, std::move(arrivals));
  }
  return groups;
}

// When each process of a group began the collective that `arrival` is of, the first one first.
// Empty where a process has no part in it.
std::vector<Start> MatchCollective(const CollectiveArrival& arrival,
                                   const ArrivalsBySource& by_end) {
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

void AddGroup(const ArrivalsBySource& group, std::map<uint32_t, ProcessSkew>* skews) {
  const auto fewest = std::min_element(
      group.begin(), group.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  for (const CollectiveArrival& arrival : fewest->second) {
    const std::vector<Start> starts = MatchCollective(arrival, group);
    if (!starts.empty()) AddCollective(starts, skews);
  }
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
  ArrivalsBySource by_end = arrivals_;
  for (auto& [source, arrivals] : by_end) {
    std::sort(
        arrivals.begin(), arrivals.end(),
        [](const CollectiveArrival& a, const CollectiveArrival& b) { return a.end_ns < b.end_ns; });
  }
  uint32_t number = 0;
  for (const ArrivalsBySource& group : GroupsOf(std::move(by_end))) {
    if (group.size() < 2) continue;
    for (const auto& [source, arrivals] : group) skews[source].group = number;
    ++number;
    AddGroup(group, &skews);
  }
  for (auto& [source, skew] : skews) {
    if (skew.matched == 0) continue;
    skew.late_ns /= static_cast<double>(skew.matched);
    skew.last_share /= static_cast<double>(skew.matched);
  }
  return skews;
}

}  // namespace utlz
