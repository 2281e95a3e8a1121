// Finds whole steps of a reference's launch sequence in a recording.
#ifndef UTLZ_TOOLS_ATTRIBUTION_CHECK_STEP_MATCH_H_
#define UTLZ_TOOLS_ATTRIBUTION_CHECK_STEP_MATCH_H_

#include <cstddef>
#include <vector>

namespace utlz {

// Where whole steps begin, in order: as many unbroken stretches of the recording, apart from each
// other and as long as the reference, as follow its sequence, which repeats, from any place in it.
// What lies between them (launches that were lost, other work) costs the steps that it breaks.
// Kernels are equal numbers.
std::vector<size_t> FindSteps(const std::vector<size_t>& recording,
                              const std::vector<size_t>& reference);

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTRIBUTION_CHECK_STEP_MATCH_H_
