// When nobody knows what a device did, because a process that uses it was not traced.
#ifndef UTLZ_COLLECTOR_RUN_UNTRACED_TIME_H_
#define UTLZ_COLLECTOR_RUN_UNTRACED_TIME_H_

#include <cstdint>

#include "collector/run/run_state.h"

namespace utlz {

// Processes of one job see all of a machine's GPUs, and have contexts on few.
bool Uses(const ProcessState& process, uint32_t device);

// Between two windows of a process, on every device that it uses.
void AddUntraced(const ProcessState& process, const UntracedGap& gap, RunState* state);

// Work of a process that was killed, or of one whose profile was cut off, was sampled to the end,
// but its last records never came. Once: when it has ended, or at the end of what is known of it.
void AddLostTail(const ProcessState& process, RunState* state);

// Of processes whose last window was closed long before they ended, and of those that have no end.
// Once, at the end.
void AddUntracedTails(RunState* state);

// Tells a device's attribution of the rest: the time before anything was traced, and since a
// process stopped tracing whose next window may never come.
void UpdateUntracedTime(uint32_t index, RunState* state);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_UNTRACED_TIME_H_
