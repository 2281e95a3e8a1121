// The processor time that the calling thread has taken so far.
#ifndef UTLZ_COLLECTOR_THREAD_TIME_H_
#define UTLZ_COLLECTOR_THREAD_TIME_H_

#include <time.h>

#include <cstdint>

namespace utlz {

inline uint64_t ThreadCpuNs() {
  timespec used = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(used.tv_nsec);
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_THREAD_TIME_H_
