#include "collector/model/gap_statistics.h"

namespace utlz {
namespace {

constexpr ActivityMask kUploadMask =
    MaskOf(ActivityKind::kHostToDevice) | MaskOf(ActivityKind::kHostToDevicePageable);
constexpr ActivityMask kReadbackMask =
    MaskOf(ActivityKind::kDeviceToHost) | MaskOf(ActivityKind::kDeviceToHostPageable);

void Count(uint64_t gap_ns, GapTotal* total) {
  ++total->gaps;
  total->time_ns += gap_ns;
}

}  // namespace

// Each gap is given to one cause: the turnaround of kernels, a readback before it, else an upload after it, else its length.
void GapStatistics::Add(const ActivitySegment& segment) {
  const uint64_t length_ns = segment.end_ns - segment.start_ns;
  if (segment.mask == 0) {
    pending_gap_ns_ = length_ns;
    return;
  }
  if (pending_gap_ns_ != 0) {
    const uint64_t gap_ns = pending_gap_ns_;
    pending_gap_ns_ = 0;
    if (gap_ns <= kTurnaroundGapNs) {
      Count(gap_ns, &turnaround_);
    } else if ((last_busy_mask_ & kReadbackMask) != 0) {
      Count(gap_ns, &after_readback_);
    } else if (gap_ns > kLaunchGapNs && (segment.mask & kUploadMask) != 0) {
      Count(gap_ns, &before_upload_);
    } else if (gap_ns <= kLaunchGapNs) {
      Count(gap_ns, &launch_);
    } else if (gap_ns < kLongGapNs) {
      Count(gap_ns, &medium_);
    } else {
      Count(gap_ns, &long_);
    }
  }
  last_busy_mask_ = segment.mask;
}

}  // namespace utlz
