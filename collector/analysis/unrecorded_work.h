// Work that counters saw where nothing was recorded. Multiprocessors are active in kernels alone,
// so cycles in which they were active outside of recorded kernels are of kernels without a record.
// Eleven healthy recordings of H200s had less than 0.1 % of them, and one in which CUPTI had left
// out what one thread launched 39 %.
#ifndef UTLZ_COLLECTOR_ANALYSIS_UNRECORDED_WORK_H_
#define UTLZ_COLLECTOR_ANALYSIS_UNRECORDED_WORK_H_

#include <optional>

#include "collector/counters/attribution_feed.h"

namespace utlz {

// Of the cycles in which the multiprocessors of a device were active, as far as samples of traced
// time counted them: the share outside of recorded kernels. Nothing where too few were counted to
// tell.
std::optional<double> UnrecordedWorkShare(const Attribution& attribution);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_UNRECORDED_WORK_H_
