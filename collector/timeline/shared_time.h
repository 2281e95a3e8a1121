// How much of the time of kernels that ran at once was each one's own: a moment in which several
// kernels of a device ran is divided among them evenly. So the times of all kernels add up to the
// time in which some kernel ran, and a kernel that ran beside others is not taken for a slow one.
//
// Kernels of communication libraries are left out: they wait, and take little of the GPU meanwhile.
//
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_SHARED_TIME_H_
#define UTLZ_COLLECTOR_TIMELINE_SHARED_TIME_H_

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "collector/timeline/activity.h"

namespace utlz {

class SharedTime {
 public:
  // Launches in order of start; others than of kernels that compute are left out.
  void Add(const Activity& activity);

  // Of the time of a kernel's launches, the part that was its own: 1 where it ran alone, or where
  // nothing is known of it.
  double OwnShare(uint32_t kernel) const;

 private:
  struct Running {
    uint64_t start_ns;
    uint64_t end_ns;
    double divided_ns;  // what `divided_ns_` was at its start
    uint32_t kernel;
    bool operator>(const Running& other) const { return end_ns > other.end_ns; }
  };
  struct Sums {
    double time_ns = 0;
    double own_ns = 0;
  };

  void MoveTo(uint64_t time_ns);
  void CloseUntil(uint64_t time_ns);
  void Count(const Running& running, Sums* sums) const;

  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  uint64_t now_ns_ = 0;
  double divided_ns_ = 0;   // what one kernel would have had that ran all along
  std::vector<Sums> sums_;  // by kernel
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_SHARED_TIME_H_
