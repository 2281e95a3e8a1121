// Finds the steps of a training or serving loop in the launches of one device, and times them.
//
// The first launches are kept and searched for a kernel that comes back after the same number of
// launches each time; among such kernels the one with the longest period marks the step. From then
// on only its launches are looked at. Streaming; memory is bounded by kSearchLaunches and kMaxSteps.
//
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_MODEL_STEP_FINDER_H_
#define UTLZ_COLLECTOR_MODEL_STEP_FINDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/model/activity.h"

namespace utlz {

struct Step {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;          // start of the next step
  uint64_t kernel_time_ns = 0;  // sum of the kernels that started in it
  uint32_t launches = 0;
};

class StepFinder {
 public:
  static constexpr size_t kSearchLaunches = 65536;
  static constexpr size_t kMaxSteps = 100000;

  // Launches in order of start.
  void Add(const Activity& activity);

  // Complete steps so far; empty where the launches do not repeat. The launches after the last
  // complete step are left out.
  std::vector<Step> Steps() const;

 private:
  struct Launch {
    uint64_t start_ns;
    uint64_t duration_ns;
    uint32_t kernel;
  };

  static std::optional<uint32_t> FindAnchor(const std::vector<Launch>& launches);
  static void Follow(uint32_t anchor, const Launch& launch, std::vector<Step>* steps);

  std::vector<Launch> searched_;   // until the anchor is settled
  bool settled_ = false;
  std::optional<uint32_t> anchor_;
  std::vector<Step> steps_;        // the last one still open
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_STEP_FINDER_H_
