// Finds the steps of a training or serving loop in the launches of one device.
//
// The first launches are kept and searched for a kernel that comes back after about the same number
// of launches each time. Among such kernels one with the longest period marks the step. A period
// that is only a shorter one several times over is none: every second step may pick another variant
// of a kernel. From then on only the launches of that one kernel are looked at. Streaming; memory
// is bounded by kSearchLaunches and StepStarts::kMost.
//
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_STEP_FINDER_H_
#define UTLZ_COLLECTOR_TIMELINE_STEP_FINDER_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "collector/timeline/activity.h"
#include "collector/timeline/step_starts.h"

namespace utlz {

class StepFinder {
 public:
  static constexpr size_t kSearchLaunches = 65536;

  // Launches in order of start.
  void Add(const Activity& activity);

  // Start and end of steps, in order; empty where the launches do not repeat.
  std::vector<std::pair<uint64_t, uint64_t>> Steps() const;

 private:
  struct Launch {
    uint64_t start_ns;
    uint32_t kernel;
  };

  static std::optional<uint32_t> FindAnchor(const std::vector<Launch>& launches);
  static void Follow(uint32_t anchor, const Launch& launch, StepStarts* starts);

  std::vector<Launch> searched_;  // until the anchor is settled
  bool settled_ = false;
  std::optional<uint32_t> anchor_;
  StepStarts starts_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_STEP_FINDER_H_
