// A mutex that is waited for only so long: on the program's own threads the agent must never hang,
// also where somebody sets the clock back meanwhile.
#ifndef UTLZ_INJECT_BASE_TIMED_LOCK_H_
#define UTLZ_INJECT_BASE_TIMED_LOCK_H_

#include <pthread.h>
#include <time.h>

#include <cstdint>

#include "inject/base/clock.h"

namespace utlz::agent {

// False if another thread kept the mutex for all of `patience_ns`.
inline bool LockWithin(pthread_mutex_t* mutex, uint64_t patience_ns) {
  const uint64_t deadline_ns = MonotonicNs() + patience_ns;
  const timespec deadline{static_cast<time_t>(deadline_ns / 1000000000u),
                          static_cast<long>(deadline_ns % 1000000000u)};
  return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &deadline) == 0;
}

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_BASE_TIMED_LOCK_H_
