#include "tools/run/signal_relay.h"

#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

namespace utlz {
namespace {

void SetHandling(int signal, sighandler_t handling, struct sigaction* before) {
  struct sigaction action = {};
  action.sa_handler = handling;
  sigaction(signal, &action, before);
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
  // An inherited "ignore" would hide the command's end from us.
  SetHandling(SIGCHLD, SIG_DFL, &child_before_);
  // A reader of our report that has gone, or a file-size limit, must not change the exit status.
  SetHandling(SIGPIPE, SIG_IGN, &pipe_before_);
  SetHandling(SIGXFSZ, SIG_IGN, &file_size_before_);
}

SignalRelay::~SignalRelay() { RestoreForChild(); }

void SignalRelay::RestoreForChild() const {
  sigaction(SIGCHLD, &child_before_, nullptr);
  sigaction(SIGPIPE, &pipe_before_, nullptr);
  sigaction(SIGXFSZ, &file_size_before_, nullptr);
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
