// Idle stretches of a device by length. Length tells causes apart: gaps of microseconds between
// launches come from a host that launches too slowly, gaps of milliseconds from one that does
// something else (reads input, waits, computes). Thread safety: none.
#ifndef UTLZ_COLLECTOR_MODEL_GAP_STATISTICS_H_
#define UTLZ_COLLECTOR_MODEL_GAP_STATISTICS_H_

#include <array>
#include <cstdint>

#include "collector/model/activity_sweep.h"

namespace utlz {

// Bounds of the lengths: what a launch-bound host leaves between kernels, and what the next length
// of pause is. Up to the first, one kernel drains and the next fills the GPU, however well they are
// launched (nodes of a graph lie about 0.7 microseconds apart on an H200). A launch costs 2 to 50 microseconds of an eager framework's host time.
inline constexpr uint64_t kTurnaroundGapNs = 2'000;
inline constexpr uint64_t kLaunchGapNs = 100'000;
inline constexpr uint64_t kLongGapNs = 2'000'000;

struct GapTotal {
  uint64_t gaps = 0;
  uint64_t time_ns = 0;
};

class GapStatistics {
 public:
  void Add(const ActivitySegment& segment);

  const GapTotal& turnaround_gaps() const { return turnaround_; }  // up to kTurnaroundGapNs
  const GapTotal& launch_gaps() const { return launch_; }          // up to kLaunchGapNs
  const GapTotal& medium_gaps() const { return medium_; }
  const GapTotal& long_gaps() const { return long_; }       // from kLongGapNs
  // Idle stretches right after a copy from device to host: the host waits for a result.
  const GapTotal& after_readback() const { return after_readback_; }
  // Idle stretches right before a copy from host to device: input that came late.
  const GapTotal& before_upload() const { return before_upload_; }

 private:
  GapTotal turnaround_, launch_, medium_, long_, after_readback_, before_upload_;
  uint64_t pending_gap_ns_ = 0;  // length of the idle stretch that just ended
  ActivityMask last_busy_mask_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_GAP_STATISTICS_H_
