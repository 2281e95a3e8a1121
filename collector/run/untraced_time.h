// When nobody knows what a device did, because a process that uses it was not traced.
#ifndef UTLZ_COLLECTOR_RUN_UNTRACED_TIME_H_
#define UTLZ_COLLECTOR_RUN_UNTRACED_TIME_H_

#include <cstdint>

#include "collector/run/run_state.h"

namespace utlz {

// Processes of one job see all of a machine's GPUs, and have contexts on few.
bool Uses(const ProcessState& process, uint32_t device);

// A window of a process opened after `gap`: on every device that it uses, something was not traced.
// For how long is known once work is recorded there (UntracedWork).
void BeginUntraced(const UntracedGap& gap, ProcessState* process, RunState* state);
// Adds what is known by now, after records of the process.
void SettleUntraced(ProcessState* process, RunState* state);
// The same of all processes on a device that hands over what it did up to `watermark_ns`.
void SettleUntracedBefore(uint64_t watermark_ns, uint32_t device, RunState* state);

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
