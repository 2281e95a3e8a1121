// The system's clocks in nanoseconds.
#ifndef UTLZ_COLLECTOR_CLOCKS_H_
#define UTLZ_COLLECTOR_CLOCKS_H_

#include <time.h>

#include <cstdint>

namespace utlz {

inline uint64_t ReadClockNs(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

inline uint64_t MonotonicNs() { return ReadClockNs(CLOCK_MONOTONIC); }
// The clock of all frames, and CUPTI's.
inline uint64_t RealtimeNs() { return ReadClockNs(CLOCK_REALTIME); }
// Processor time of the process, and of the calling thread.
inline uint64_t ProcessCpuNs() { return ReadClockNs(CLOCK_PROCESS_CPUTIME_ID); }
inline uint64_t ThreadCpuNs() { return ReadClockNs(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_CLOCKS_H_
