// Takes a drift of one side's clock out of the beginning of a recording. CUPTI brings GPU times
// onto the system's clock by a conversion that is some millionths off in the first seconds of a
// process, and is then corrected at once: launches of an H200 lay 0.5 µs before their samples,
// three seconds later 7 µs after them, and 1.5 µs before them from the fourth second on. One shift
// does not serve such a recording, and the wrong one gives kernels their neighbours' counts.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_CLOCK_DRIFT_CORRECTION_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_CLOCK_DRIFT_CORRECTION_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "collector/attribution/recording.h"
#include "collector/attribution/shift_groups.h"

namespace utlz::attribution {

// The recording with its samples moved stretch by stretch, so that one shift serves all of it: that
// of its last stretch. Absent where one does already, which is so unless shifts that change from
// stretch to stretch leave plainly less unexplained than any one. Up to `threads` share the work.
std::optional<Recording> WithoutClockDrift(const Recording& recording, size_t variants,
                                           const std::vector<ShiftGroup>& groups, unsigned threads);

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_CLOCK_DRIFT_CORRECTION_H_
