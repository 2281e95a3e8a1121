#include "tools/run/signal_relay.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

#include "tools/ending/ending_watch.h"

namespace utlz {
namespace {

constexpr int kSignals = 64;

// What the kernel takes; the first field is all that matters for a signal without a handler.
struct KernelAction {
  sighandler_t handler;
  uint64_t rest[3];
};

// Not by sigaction(), which hides the two signals that glibc uses itself, and takes one of them
// over with the first thread: what a program inherits for those must come through too.
bool IsIgnored(int signal) {
  KernelAction action = {};
  return syscall(SYS_rt_sigaction, signal, nullptr, &action, sizeof(uint64_t)) == 0 &&
         action.handler == SIG_IGN;
}

void SetHandling(int signal, sighandler_t handling) {
  const KernelAction action = {handling, {}};
  syscall(SYS_rt_sigaction, signal, &action, nullptr, sizeof(uint64_t));
}

// The terminal sends these to the whole foreground process group, the command included.
bool CameFromTerminal(const siginfo_t& info) { return info.si_code == SI_KERNEL; }

// A terminal that hangs up tells the leader of its session only.
bool LeadsSession() { return getsid(0) == getpid(); }

bool InForeground() { return tcgetpgrp(STDERR_FILENO) == getpgrp(); }

}  // namespace

SignalRelay::SignalRelay() {
  sigemptyset(&waited_for_);
  for (const int signal :
       {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD}) {
    sigaddset(&waited_for_, signal);
  }
  sigprocmask(SIG_BLOCK, &waited_for_, &mask_before_);
  for (int signal = 1; signal <= kSignals; ++signal) {
    if (IsIgnored(signal)) ignored_before_ |= uint64_t{1} << (signal - 1);
  }
  // An inherited "ignore" would hide the command's end from us.
  SetHandling(SIGCHLD, SIG_DFL);
  // A reader of our report that has gone, or a file-size limit, must not change the exit status.
  SetHandling(SIGPIPE, SIG_IGN);
  SetHandling(SIGXFSZ, SIG_IGN);
}

void SignalRelay::RestoreForChild() const {
  for (int signal = 1; signal <= kSignals; ++signal) {
    const bool ignored = ((ignored_before_ >> (signal - 1)) & 1) != 0;
    SetHandling(signal, ignored ? SIG_IGN : SIG_DFL);
  }
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

int SignalRelay::WaitFor(pid_t child) {
  int wait_status = 0;
  while (true) {
    siginfo_t info = {};
    if (sigwaitinfo(&waited_for_, &info) < 0) continue;
    if (info.si_signo != SIGCHLD) {
      Relay(info, child);
    } else if (CollectChild(child, &wait_status)) {
      return wait_status;
    }
  }
}

void SignalRelay::Relay(const siginfo_t& info, pid_t child) {
  const sigset_t ending = EndingSignals();
  ending_signal_came_ = ending_signal_came_ || sigismember(&ending, info.si_signo) == 1;
  if (info.si_signo == SIGCONT) {
    if (child_stopped_) kill(child, SIGCONT);
    return;
  }
  const bool had_it = CameFromTerminal(info) && !(info.si_signo == SIGHUP && LeadsSession());
  // What the command sends to its process group, it has sent to itself.
  const bool its_own = info.si_code <= 0 && info.si_pid == child;
  if (!had_it && !its_own) kill(child, info.si_signo);
}

bool SignalRelay::CollectChild(pid_t child, int* wait_status) {
  while (waitpid(child, wait_status, WNOHANG | WUNTRACED | WCONTINUED) == child) {
    if (WIFEXITED(*wait_status) || WIFSIGNALED(*wait_status)) return true;
    child_stopped_ = WIFSTOPPED(*wait_status);
    if (child_stopped_) FollowStop(WSTOPSIG(*wait_status), child);
  }
  return false;
}

void SignalRelay::FollowStop(int stop_signal, pid_t child) {
  // Without job control nobody would wake us: a plain SIGSTOP to the command is not ours to follow.
  if (stop_signal == SIGSTOP && !InForeground()) return;
  raise(SIGSTOP);
  kill(child, SIGCONT);  // whoever wakes utlz means the command
}

}  // namespace utlz
