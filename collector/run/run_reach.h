// Which times a run can have: records of a clock that is not the run's are refused.
#ifndef UTLZ_COLLECTOR_RUN_RUN_REACH_H_
#define UTLZ_COLLECTOR_RUN_RUN_REACH_H_

#include <cstdint>

namespace utlz {

// When a run was, as far as is known when a record of it comes.
struct RunReach {
  uint64_t start_ns = 0;   // 0: not known
  uint64_t newest_ns = 0;  // that its process has reported, about once a second; 0: nothing yet
};

// Nothing ran so long before a run, nor after everything else that its process reported: such a
// time is of another clock, as that of a profiler which gave CUPTI its own. The system's clock may
// be set by less, and a program may be stopped for a while.
inline constexpr uint64_t kLongestBeforeRunNs = 3'600'000'000'000;
inline constexpr uint64_t kLongestAfterNewestNs = 24 * kLongestBeforeRunNs;

inline bool IsOfThisRun(uint64_t start_ns, uint64_t end_ns, const RunReach& run) {
  if (start_ns < run.start_ns && run.start_ns - start_ns > kLongestBeforeRunNs) return false;
  const uint64_t newest_ns = run.newest_ns > run.start_ns ? run.newest_ns : run.start_ns;
  return newest_ns == 0 || end_ns <= newest_ns || end_ns - newest_ns <= kLongestAfterNewestNs;
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_RUN_REACH_H_
