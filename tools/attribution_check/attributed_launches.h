// The engine's answer for a recording, launch by launch.
#ifndef UTLZ_TOOLS_ATTRIBUTION_CHECK_ATTRIBUTED_LAUNCHES_H_
#define UTLZ_TOOLS_ATTRIBUTION_CHECK_ATTRIBUTED_LAUNCHES_H_

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "collector/attribution/solution.h"
#include "tools/attribution_check/capture.h"

namespace utlz {

class AttributedLaunches {
 public:
  // Counters, by index into the engine's estimates.
  enum Counter : size_t { kDramRead, kDramWrite, kTensorCycles, kCounters };

  // Runs the engine over the whole recording.
  explicit AttributedLaunches(const Capture& capture);

  const attribution::Solution& solution() const { return solution_; }
  // The column whose estimate holds for the launch; null where it has none.
  const attribution::ColumnEstimate* ColumnOf(const CapturedLaunch& launch) const;

 private:
  attribution::Solution solution_;
  std::map<size_t, std::vector<size_t>> columns_;  // by key; indices into solution_.columns
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTRIBUTION_CHECK_ATTRIBUTED_LAUNCHES_H_
