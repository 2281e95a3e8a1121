#include "collector/session/step_watch.h"

#include <algorithm>

#include "collector/steps/step_summary.h"
#include "proto/summary.pb.h"

namespace utlz {

uint64_t MedianStepNs(const RunState& state) {
  constexpr double kMostNs = 1e12;  // the times are those of targets
  Summary summary;
  if (!SummarizeSteps(state, &summary).has_value()) return 0;
  return static_cast<uint64_t>(std::clamp(summary.steps().time_p50_ns(), 0.0, kMostNs));
}

}  // namespace utlz
