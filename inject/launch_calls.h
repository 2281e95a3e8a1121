// The driver's and the runtime's functions that launch kernels and graphs: while NVTX ranges are
// recorded, CUPTI records these calls (and no others), so that the collector can tell in which
// range of which thread a kernel was launched.
#ifndef UTLZ_INJECT_LAUNCH_CALLS_H_
#define UTLZ_INJECT_LAUNCH_CALLS_H_

#include "inject/cupti_api.h"

namespace utlz::inject {

// Switches their records on or off. Where this libcupti cannot choose functions, nothing happens:
// the report then has ranges without kernels.
void SwitchLaunchCalls(const CuptiApi& cupti, bool on);

// Another client may have switched on records of every call; only these are of use.
bool IsLaunchCall(const cupti::ApiRecord& record);

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_LAUNCH_CALLS_H_
