// How many launches came of each of many things in the last seconds, and for how long they ran: of
// kernels, layers or lines, which keep their index. Thread safety: none.
#ifndef UTLZ_COLLECTOR_LIVE_RECENT_LAUNCHES_H_
#define UTLZ_COLLECTOR_LIVE_RECENT_LAUNCHES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "collector/live/recent.h"

namespace utlz {

// Of traced launches.
struct LaunchSums {
  uint64_t launches = 0;
  uint64_t time_ns = 0;
};

class RecentLaunches {
 public:
  // The sums of the run so far, by index: a state of Recent. Before all others.
  void Add(uint64_t time_ns, std::vector<LaunchSums> sums) {
    states_.Add(time_ns, std::move(sums));
  }

  size_t size() const { return states_.newest().size(); }
  // Since the oldest state that is kept; of the run so far where there is only one.
  LaunchSums Growth(size_t index) const;
  // The indices with most time since then, most first: `most` at most, of those that `counts`.
  std::vector<uint32_t> Longest(size_t most, const std::function<bool(uint32_t)>& counts) const;

 private:
  Recent<std::vector<LaunchSums>> states_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_LIVE_RECENT_LAUNCHES_H_
