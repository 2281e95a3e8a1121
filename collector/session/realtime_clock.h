// The clock of all frames.
#ifndef UTLZ_COLLECTOR_SESSION_REALTIME_CLOCK_H_
#define UTLZ_COLLECTOR_SESSION_REALTIME_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace utlz {

// Nanoseconds of CLOCK_REALTIME, as CUPTI's default clock tells time.
inline uint64_t RealtimeNs() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_REALTIME_CLOCK_H_
