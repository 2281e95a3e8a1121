// When nobody knows what a device did, because a process that uses it was not traced.
#ifndef UTLZ_COLLECTOR_RUN_UNTRACED_TIME_H_
#define UTLZ_COLLECTOR_RUN_UNTRACED_TIME_H_

#include <cstdint>

#include "collector/run/model_state.h"

namespace utlz {

// Processes of one job see all of a machine's GPUs, and have contexts on few.
bool Uses(const ProcessState& process, uint32_t device);

// Between two windows of a process, on every device that it uses.
void AddUntraced(const ProcessState& process, const UntracedGap& gap, ModelState* model);

// Work of a process that was killed, or of one whose profile was cut off, was sampled to the end,
// but its last records never came. Once: when it has ended, or at the end of what is known of it.
void AddLostTail(const ProcessState& process, ModelState* model);

// Of processes whose last window was closed long before they ended, and of those that have no end.
// Once, at the end.
void AddUntracedTails(ModelState* model);

// Tells a device's attribution of the rest: the time before anything was traced, and since a
// process stopped tracing whose next window may never come.
void TellUntraced(uint32_t index, ModelState* model);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_UNTRACED_TIME_H_
