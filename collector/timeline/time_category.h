// What a moment of a device went to: every one belongs to exactly one category, so that sums over
// categories are the whole. Idle time is classified by what lies around it and by its length: gaps
// of microseconds between launches come from a host that launches too slowly, gaps of milliseconds
// from one that does something else (reads input, waits, computes).
#ifndef UTLZ_COLLECTOR_TIMELINE_TIME_CATEGORY_H_
#define UTLZ_COLLECTOR_TIMELINE_TIME_CATEGORY_H_

#include <cstddef>
#include <cstdint>

#include "collector/timeline/concurrency_tracker.h"

namespace utlz {

enum class TimeCategory : uint8_t {
  kTurnaroundGap,  // up to kTurnaroundGapNs
  kLaunchGap,      // up to kLaunchGapNs
  kReadbackGap,    // right after a copy to the host: the host waits for a result
  kUploadGap,      // a longer one, right before a copy from the host: input that came late
  kOtherGap,       // a longer one
  kCompute,        // some kernel that is not of a communication library
  kCommunication,  // such kernels alone
  kPageableCopy,   // copies and no kernel, some of pageable memory
  kPinnedCopy,     // the same between host and device, none of pageable memory
  kOtherCopy,      // the same on the device and between devices
  kUntraced,
};
inline constexpr size_t kTimeCategories = 11;
inline constexpr size_t kGapCategories = 5;  // the first ones: nothing ran

// Up to this much one kernel drains and the next fills the GPU, however well they are launched
// (nodes of a graph lie about 0.7 microseconds apart on an H200).
inline constexpr uint64_t kTurnaroundGapNs = 2'000;
// A launch costs 2 to 50 microseconds of an eager framework's host time.
inline constexpr uint64_t kLaunchGapNs = 100'000;

constexpr bool IsGap(TimeCategory category) {
  return static_cast<size_t>(category) < kGapCategories;
}

// `before`: what ran last before the segment, if nothing runs in it.
TimeCategory CategoryOf(const ActivitySegment& segment, ActivityMask before);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_TIME_CATEGORY_H_
