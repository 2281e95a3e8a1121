// How often the moments in which each GPU stood idle count in its idle time in the report: as the
// steps around them do, since some were traced and stand for others that were not.
#ifndef UTLZ_TOOLS_EXPORT_GAP_TIMES_H_
#define UTLZ_TOOLS_EXPORT_GAP_TIMES_H_

#include <map>
#include <string>

#include "collector/analysis/weighed_time.h"
#include "collector/run/run_state.h"

namespace utlz {

// By the GPU's UUID, as the report writes it.
using GapTimes = std::map<std::string, WeighedTime>;

GapTimes GapTimesOf(const RunState& state);

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_GAP_TIMES_H_
