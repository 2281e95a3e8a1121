// Steps that become longer over the run, each a little: something that the program keeps grows.
#ifndef UTLZ_COLLECTOR_STEPS_STEP_DRIFT_H_
#define UTLZ_COLLECTOR_STEPS_STEP_DRIFT_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "collector/steps/found_steps.h"

namespace utlz {

struct StepDrift {
  double first_ns = 0;  // the median of steps in the first quarter of the time
  double last_ns = 0;   // of those in the last
};

// Nothing where steps stay as long, or where their lengths differ too much for a trend to show.
std::optional<StepDrift> FindDrift(const std::vector<Step>& steps, size_t warmup);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_STEPS_STEP_DRIFT_H_
