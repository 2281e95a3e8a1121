#include "collector/timeline/answered_waits.h"

#include "collector/timeline/time_category.h"

namespace utlz {
namespace {

constexpr ActivityMask kToHost =
    MaskOf(ActivityKind::kDeviceToHost) | MaskOf(ActivityKind::kDeviceToHostPageable);
constexpr ActivityMask kFromHost =
    MaskOf(ActivityKind::kHostToDevice) | MaskOf(ActivityKind::kHostToDevicePageable);

}  // namespace

void AnsweredWaits::Add(const ActivitySegment& segment) {
  const ActivityMask before = last_mask_;
  if (segment.mask != 0) {
    last_mask_ = segment.mask;
    return;
  }
  const uint64_t length_ns = segment.end_ns - segment.start_ns;
  const bool answered = (before & kToHost) != 0 && (segment.next & kFromHost) != 0;
  if (!answered || length_ns <= kLaunchGapNs) return;
  const auto wait_ns = static_cast<double>(length_ns);
  ++count_;
  sum_ns_ += wait_ns;
  squares_ += wait_ns * wait_ns;
}

}  // namespace utlz
