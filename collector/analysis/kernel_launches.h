// Launches of a kernel in the whole run: those that were recorded, untimed ones included, and those
// that windows say have happened between them.
#ifndef UTLZ_COLLECTOR_ANALYSIS_KERNEL_LAUNCHES_H_
#define UTLZ_COLLECTOR_ANALYSIS_KERNEL_LAUNCHES_H_

#include <cstdint>
#include <map>

#include "collector/run/run_state.h"
#include "collector/windows/window_work.h"

namespace utlz {

struct KernelLaunches {
  KernelSum recorded;
  KernelSum in_gaps;
  double gap_variance_ns2 = 0;  // of the time in gaps
};

// `now_ns`: until then processes that have not ended ran.
KernelLaunches LaunchesOf(const RunState& state, const Kernel& kernel, uint64_t now_ns);

// By kernel, of one device.
std::map<uint32_t, double> LaunchesInGaps(const RunState& state, uint32_t device, uint64_t now_ns);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_KERNEL_LAUNCHES_H_
