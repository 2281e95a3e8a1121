#ifndef UTLZ_INJECT_BASE_CLOCK_H_
#define UTLZ_INJECT_BASE_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace utlz::agent {

inline uint64_t ClockNs(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}
inline uint64_t MonotonicNs() { return ClockNs(CLOCK_MONOTONIC); }
inline uint64_t ThreadCpuNs() { return ClockNs(CLOCK_THREAD_CPUTIME_ID); }
inline uint64_t RealtimeNs() { return ClockNs(CLOCK_REALTIME); }

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_BASE_CLOCK_H_
