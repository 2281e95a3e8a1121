// Finds whole steps of a reference's launch sequence in a recording.
#ifndef UTLZ_TOOLS_ATTRIBUTION_CHECK_STEP_MATCH_H_
#define UTLZ_TOOLS_ATTRIBUTION_CHECK_STEP_MATCH_H_

#include <cstddef>
#include <vector>

namespace utlz {

// An unbroken run of launches that follows the reference's sequence, which repeats.
struct StepRun {
  size_t first = 0;           // index into the recording's sequence
  size_t steps = 0;           // whole ones, from `first` on
  size_t first_position = 0;  // of the launch `first` within a step
};

// The run with the most whole steps; none has zero steps. Kernels are equal numbers.
StepRun FindSteps(const std::vector<size_t>& recording, const std::vector<size_t>& reference);

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTRIBUTION_CHECK_STEP_MATCH_H_
