#include "collector/timeline/time_category.h"

namespace utlz {
namespace {

constexpr ActivityMask kPageableMask =
    MaskOf(ActivityKind::kHostToDevicePageable) | MaskOf(ActivityKind::kDeviceToHostPageable);
constexpr ActivityMask kUploadMask =
    MaskOf(ActivityKind::kHostToDevice) | MaskOf(ActivityKind::kHostToDevicePageable);
constexpr ActivityMask kReadbackMask =
    MaskOf(ActivityKind::kDeviceToHost) | MaskOf(ActivityKind::kDeviceToHostPageable);

// The turnaround of kernels, else a readback before it, else an upload after it, else its length.
TimeCategory CategoryOfGap(uint64_t gap_ns, ActivityMask before, ActivityMask after) {
  if (gap_ns <= kTurnaroundGapNs) return TimeCategory::kTurnaroundGap;
  if ((before & kReadbackMask) != 0) return TimeCategory::kReadbackGap;
  if (gap_ns <= kLaunchGapNs) return TimeCategory::kLaunchGap;
  return (after & kUploadMask) != 0 ? TimeCategory::kUploadGap : TimeCategory::kOtherGap;
}

}  // namespace

TimeCategory CategoryOf(const ActivitySegment& segment, ActivityMask before) {
  const ActivityMask mask = segment.mask;
  if (mask == 0) return CategoryOfGap(segment.end_ns - segment.start_ns, before, segment.next);
  if ((mask & kUntracedMask) != 0) return TimeCategory::kUntraced;
  if ((mask & MaskOf(ActivityKind::kCompute)) != 0) return TimeCategory::kCompute;
  if ((mask & kKernelMask) != 0) return TimeCategory::kCommunication;
  if ((mask & kPageableMask) != 0) return TimeCategory::kPageableCopy;
  return (mask & (kUploadMask | kReadbackMask)) != 0 ? TimeCategory::kPinnedCopy
                                                     : TimeCategory::kOtherCopy;
}

}  // namespace utlz
