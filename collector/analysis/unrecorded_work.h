// Work that counters saw where nothing was recorded. Multiprocessors are active in kernels alone,
// so cycles in which they were active outside of recorded kernels are of kernels without a record.
// Measured in healthy recordings: less than 0.1 % of them.
#ifndef UTLZ_COLLECTOR_ANALYSIS_UNRECORDED_WORK_H_
#define UTLZ_COLLECTOR_ANALYSIS_UNRECORDED_WORK_H_

#include <optional>

#include "collector/analysis/analysis.h"
#include "collector/run/run_state.h"

namespace utlz {

// From this share on idle time, and times and shares of kernels, are not to be trusted.
inline constexpr double kMuchUnrecorded = 0.05;

// Of the cycles in which the multiprocessors of a device were active, as far as samples of traced
// time counted them: the share outside of recorded kernels. Nothing where too few were counted to
// tell.
std::optional<double> UnrecordedWorkShare(const Attribution& attribution);

// The largest of the devices that the run used, where it is kMuchUnrecorded at least. Devices on
// which others may have worked are left out: `summary` names these, and needs its devices.
std::optional<double> MuchUnrecordedWork(const RunState& state, const Analysis& analysis,
                                         const Summary& summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_UNRECORDED_WORK_H_
