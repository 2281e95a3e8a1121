// Programs in states that an attach must refuse, or must get right.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/attach/target_control.h"
#include "tests/attach/target_programs.h"

namespace utlz::attach {
namespace {

constexpr int kDisturbed = 10;
constexpr int kInput = 0;

void SleepBriefly() {
  const timespec duration = {0, 5'000'000};
  nanosleep(&duration, nullptr);
}

void SleepUntilStopped() {
  Ready();
  while (MayGoOn()) {
    SleepBriefly();
    Progress();
  }
}

void ReadOneByte(int) {
  Ready();
  char byte = 0;
  if (read(kInput, &byte, 1) == 1) Progress();
}

void CountSignal(int) { Progress(); }

}  // namespace

int ReadInSignalHandler() {
  struct sigaction action = {};
  action.sa_handler = ReadOneByte;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  return Control().progress == 1 ? 0 : kDisturbed;
}

// A library's constructor waits, and the loader's lock is held.
int ReadInConstructor() {
  const bool opened = dlopen(UTLZ_WAITING_LIBRARY, RTLD_NOW) != nullptr;
  return opened && Control().progress == 1 ? 0 : kDisturbed;
}

// The parent stands in vfork until the child, which uses the parent's memory, is told to end.
int VforkParent() {
  const pid_t child = vfork();
  if (child == 0) {
    Control().process_id = getpid();
    Ready();
    char byte = 0;
    const ssize_t count = read(kInput, &byte, 1);
    _exit(count == 1 ? 42 : 1);
  }
  Progress();
  int status = 0;
  return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 42 ? 0 : kDisturbed;
}

// A handler that runs every millisecond, in the thread that is lent.
int TimerSignals() {
  struct sigaction action = {};
  action.sa_handler = CountSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval interval = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &interval, nullptr);
  Ready();
  while (MayGoOn()) {
    char byte = 0;
    // Restarted after each signal, this ends by the test's byte alone.
    if (recv(kInput, &byte, 1, 0) != 1) return kDisturbed;
  }
  return 0;
}

// Changing user ids makes the C library signal every thread and wait for each to answer.
int ChangeUserIds() {
  std::atomic<bool> healthy = true;
  std::thread changer([&healthy] {
    while (MayGoOn()) {
      if (setresuid(getuid(), geteuid(), static_cast<uid_t>(-1)) != 0) healthy = false;
      Progress();
      sched_yield();
    }
  });
  Ready();
  char byte = 0;
  while (MayGoOn() && recv(kInput, &byte, 1, 0) == 1) continue;
  changer.join();
  return healthy ? 0 : kDisturbed;
}

// Closes what it does not own, again and again.
int CloseRangeForever() {
  std::thread closer([] {
    while (MayGoOn()) syscall(SYS_close_range, 3, ~0u, 0);
  });
  SleepUntilStopped();
  closer.join();
  return 0;
}

// Closes what it does not own while the library is being loaded, and opens files of its own under
// all the numbers that became free. None of them may vanish.
int ReuseDescriptors() {
  constexpr int kLastNumber = 250;
  std::thread closer([] {
    while (Control().entered_constructor == 0) sched_yield();
    syscall(SYS_close_range, 3, ~0u, 0);
    while (open("/dev/null", O_RDONLY | O_CLOEXEC) < kLastNumber) continue;
    Control().reused_numbers = 1;
  });
  SleepUntilStopped();
  closer.join();
  for (int number = 3; number <= kLastNumber; ++number) {
    if (fcntl(number, F_GETFD) < 0) return kDisturbed;
  }
  return 0;
}

int NoDescriptorsLeft() {
  const rlimit limit = {8, 8};
  setrlimit(RLIMIT_NOFILE, &limit);
  while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) continue;
  SleepUntilStopped();
  return 0;
}

int NoMemoryLeft() {
  const rlimit limit = {1 << 20, 1 << 20};
  setrlimit(RLIMIT_AS, &limit);
  SleepUntilStopped();
  return 0;
}

// Room for what the loader maps, and none for the library: dlopen fails.
int TightMemory() {
  // Of the C library's own needs, what can be met before is.
  std::free(std::malloc(1000));
  dlopen("libutlz_no_such_library.so", RTLD_NOW);
  dlerror();
  constexpr rlim_t kRoomBytes = (512 << 10) + 8192;
  unsigned long pages = 0;
  FILE* file = std::fopen("/proc/self/statm", "r");
  if (std::fscanf(file, "%lu", &pages) != 1) return kDisturbed;
  std::fclose(file);
  const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kRoomBytes;
  const rlimit limit = {bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
  SleepUntilStopped();
  // The failure's text was for the loader, not for the program.
  return dlerror() == nullptr ? 0 : kDisturbed + 1;
}

}  // namespace utlz::attach
