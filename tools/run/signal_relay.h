// Makes utlz transparent to signals: what is sent to it reaches the command, what the terminal
// sends to both is not doubled, and a command that is stopped stops utlz, so that the shell
// notices.
#ifndef UTLZ_TOOLS_RUN_SIGNAL_RELAY_H_
#define UTLZ_TOOLS_RUN_SIGNAL_RELAY_H_

#include <signal.h>
#include <sys/types.h>

#include <cstdint>

namespace utlz {

// Make it before any thread; it changes the process's signal mask and the handling of SIGCHLD,
// SIGPIPE and SIGXFSZ for good.
class SignalRelay {
 public:
  SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  // Gives a forked child the handling that utlz itself was started with. Async-signal-safe.
  void RestoreForChild() const;

  // Relays until the child ends; returns its wait status.
  int WaitFor(pid_t child);
  // Whether a signal by which a user ends a program came meanwhile.
  bool ending_signal_came() const { return ending_signal_came_; }

 private:
  void Relay(const siginfo_t& info, pid_t child);
  // True with `wait_status` set once the child has ended.
  bool CollectChild(pid_t child, int* wait_status);
  void FollowStop(int stop_signal, pid_t child);

  sigset_t waited_for_;
  sigset_t mask_before_;
  uint64_t ignored_before_ = 0;  // bit n - 1: signal n
  bool child_stopped_ = false;
  bool ending_signal_came_ = false;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_RUN_SIGNAL_RELAY_H_
