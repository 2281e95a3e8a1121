#include "inject/termination.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace utlz::inject {
namespace {

struct WatchedSignal {
  int number;
  const char* name;
};
constexpr WatchedSignal kWatched[] = {
    {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"}, {SIGHUP, "SIGHUP"}, {SIGABRT, "SIGABRT"}};

std::atomic<int> requested{0};

void OnTerminate(int);

bool Installed(int signal_number) {
  struct sigaction current;
  return sigaction(signal_number, nullptr, &current) == 0 && current.sa_handler == OnTerminate;
}

void Set(int signal_number, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal_number, &action, nullptr);
}

// The default action lets no code of the target run after the signal, so this thread waits here for
// the agent's to end the process. It may hold a lock that the flush needs, and the agent may have
// given up: then the wait ends by itself and the target dies unflushed.
void OnTerminate(int signal_number) {
  constexpr int kMostPauses = 200;
  const int saved_errno = errno;
  requested.store(signal_number, std::memory_order_relaxed);
  for (int i = 0; i < kMostPauses; ++i) {
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
  Terminate(signal_number);  // delivered on return from here
  errno = saved_errno;
}

}  // namespace

void WatchTermination() {
  for (const WatchedSignal& watched : kWatched) {
    struct sigaction current;
    if (sigaction(watched.number, nullptr, &current) == 0 &&
        (current.sa_flags & SA_SIGINFO) == 0 && current.sa_handler == SIG_DFL) {
      Set(watched.number, OnTerminate);
    }
  }
}

int TerminationSignal() { return requested.load(std::memory_order_relaxed); }

const char* SignalName(int signal_number) {
  for (const WatchedSignal& watched : kWatched) {
    if (watched.number == signal_number) return watched.name;
  }
  return "signal";
}

void Terminate(int signal_number) {
  if (Installed(signal_number)) Set(signal_number, SIG_DFL);
  kill(getpid(), signal_number);
}

void ForgetTermination() {
  for (const WatchedSignal& watched : kWatched) {
    if (Installed(watched.number)) Set(watched.number, SIG_DFL);
  }
}

}  // namespace utlz::inject
