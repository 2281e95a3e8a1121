// Records whose times cannot be true. CUPTI has reported ends of graph nodes half a second late
// where tracing was switched off while the graph ran; a few such records outweigh all others.
#ifndef UTLZ_COLLECTOR_RUN_LAUNCH_PLAUSIBILITY_H_
#define UTLZ_COLLECTOR_RUN_LAUNCH_PLAUSIBILITY_H_

#include <cstdint>

#include "collector/decode/launch_decoder.h"
#include "collector/run/kernel_table.h"

namespace utlz {

// Shorter ones do no harm.
inline constexpr uint64_t kShortestImplausibleNs = 1'000'000;

// Where a launch stands among others; UINT64_MAX where there is nothing of the kind.
struct LaunchPlace {
  uint64_t next_start_ns = UINT64_MAX;      // of the next one on its stream, of the same batch
  uint64_t untraced_since_ns = UINT64_MAX;  // its process is not traced since then
};

// A kernel many times as long as its launches are otherwise is accepted, unless the next one on its
// stream began before its end or it went on long after tracing had ended. `kernel` holds the
// launches before. Kernels of communication libraries may wait for as long as they like.
inline bool IsPlausible(const Launch& launch, const LaunchPlace& place, const Kernel& kernel) {
  constexpr double kLongerThanUsual = 16;
  constexpr uint64_t kFewestLaunches = 8;
  const uint64_t duration_ns = launch.end_ns - launch.start_ns;
  if (duration_ns < kShortestImplausibleNs || kernel.communication) return true;
  if (kernel.durations.count() < kFewestLaunches ||
      static_cast<double>(duration_ns) <= kLongerThanUsual * kernel.durations.mean_ns()) {
    return true;
  }
  const bool overtaken = place.next_start_ns < launch.end_ns;
  const bool outlived = place.untraced_since_ns < launch.end_ns - kShortestImplausibleNs;
  return !overtaken && !outlived;
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_LAUNCH_PLAUSIBILITY_H_
