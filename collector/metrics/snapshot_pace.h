// How often the collector makes a snapshot: seldom enough that snapshots take 0.5 % of a core.
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_METRICS_SNAPSHOT_PACE_H_
#define UTLZ_COLLECTOR_METRICS_SNAPSHOT_PACE_H_

#include <algorithm>
#include <cstdint>

namespace utlz {

class SnapshotPace {
 public:
  static constexpr uint64_t kShortestPauseNs = 1'000'000'000;
  static constexpr uint64_t kLongestPauseNs = 60'000'000'000;
  static constexpr uint64_t kPausePerCost = 200;

  bool Due(uint64_t now_ns) const { return now_ns >= next_ns_; }
  // A snapshot was made, for so much processor time.
  void Made(uint64_t now_ns, uint64_t cost_ns) {
    next_ns_ = now_ns + std::clamp(kPausePerCost * std::min(cost_ns, kLongestPauseNs),
                                   kShortestPauseNs, kLongestPauseNs);
  }

 private:
  uint64_t next_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_SNAPSHOT_PACE_H_
