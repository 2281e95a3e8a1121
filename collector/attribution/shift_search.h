// Finds the time shift between launches and samples by the least residual.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_SHIFT_SEARCH_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_SHIFT_SEARCH_H_

#include <cstddef>
#include <vector>

#include "collector/attribution/recording.h"
#include "collector/attribution/shift_groups.h"
#include "collector/attribution/solution.h"

namespace utlz::attribution {

// Standard error of where the counters saw the launches' edges: the shift is known as well as parts
// of the recording agree on it, and no better than the steps in which the shift of varying rates is
// looked for.
double EdgeErrorNs(const ShiftEstimate& shift);

// One estimate for each group. `recording` is long enough to hold many launches; a part of it is
// used where it is longer than that takes. Up to `threads` share the work.
std::vector<ShiftEstimate> SearchShifts(const Recording& recording, size_t variants,
                                        const std::vector<ShiftGroup>& groups, unsigned threads);

// What a later look takes of a recording.
inline constexpr size_t kFollowSamples = 4096;

// Moves earlier estimates by what a later, short recording shows.
void FollowShifts(const Recording& recording, size_t variants,
                  const std::vector<ShiftGroup>& groups, std::vector<ShiftEstimate>* estimates);

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_SHIFT_SEARCH_H_
