// Some signals end a process without any of its code running, and what CUPTI still holds would be
// lost: SIGTERM, SIGINT, SIGHUP, and SIGABRT, by which an uncaught exception ends. Where the target
// leaves one of them at its default, a handler asks the agent's thread to hand the rest over first;
// the thread then restores the default and sends the signal again, so that the target dies of it as
// it would have. A target that installs its own handler replaces ours.
#ifndef UTLZ_INJECT_TERMINATION_H_
#define UTLZ_INJECT_TERMINATION_H_

namespace utlz::inject {

// Installs the handler for those signals that are at their default.
void WatchTermination();

// The signal that came, 0 for none; polled by the agent's thread.
int TerminationSignal();

// "SIGTERM" and so on, for one of the watched signals.
const char* SignalName(int signal_number);

// Restores the default and sends the signal to this process.
void Terminate(int signal_number);

// In a child after fork, which has no agent thread: the defaults are back.
void ForgetTermination();

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_TERMINATION_H_
