// The two clocks at one moment. What is planned is planned on the monotonic clock, which nobody
// sets; what goes to other processes is in CLOCK_REALTIME.
#ifndef UTLZ_COLLECTOR_SESSION_CLOCK_READING_H_
#define UTLZ_COLLECTOR_SESSION_CLOCK_READING_H_

#include <cstdint>

#include "collector/clocks.h"

namespace utlz {

struct ClockReading {
  static ClockReading Now() { return {MonotonicNs(), RealtimeNs()}; }

  // Times before either clock's beginning are its beginning, and none is after its end.
  uint64_t ToMonotonicNs(uint64_t realtime) const {
    return Moved(realtime, realtime_ns, monotonic_ns);
  }
  uint64_t ToRealtimeNs(uint64_t monotonic) const {
    return Moved(monotonic, monotonic_ns, realtime_ns);
  }

  uint64_t monotonic_ns = 0;
  uint64_t realtime_ns = 0;

 private:
  static uint64_t Moved(uint64_t time_ns, uint64_t from_now_ns, uint64_t to_now_ns) {
    if (time_ns <= from_now_ns) {
      const uint64_t ago_ns = from_now_ns - time_ns;
      return to_now_ns > ago_ns ? to_now_ns - ago_ns : 0;
    }
    const uint64_t ahead_ns = time_ns - from_now_ns;
    return to_now_ns < UINT64_MAX - ahead_ns ? to_now_ns + ahead_ns : UINT64_MAX;
  }
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_CLOCK_READING_H_
