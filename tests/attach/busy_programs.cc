// Programs whose main thread holds, most of the time, what dlopen would need.
#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/attach/target_control.h"
#include "tests/attach/target_programs.h"

namespace utlz::attach {
namespace {

constexpr int kDisturbed = 10;
constexpr size_t kLargeBytes = 1 << 20;  // beyond malloc's threshold for mmap
constexpr char kSomeLibrary[] = "libutil.so.1";

void SleepBriefly() {
  const timespec duration = {0, 1'000'000};
  nanosleep(&duration, nullptr);
}

bool AllocateOnce(size_t bytes) {
  char* memory = static_cast<char*>(std::malloc(bytes));
  if (memory == nullptr) return false;
  std::memset(memory, 0x5a, bytes);
  const bool intact = memory[bytes / 2] == 0x5a;
  std::free(memory);
  return intact;
}

bool OpenOnce() {
  void* library = dlopen(kSomeLibrary, RTLD_NOW);
  return library != nullptr && dlclose(library) == 0;
}

template <typename Step>
int Repeat(Step step) {
  Ready();
  while (MayGoOn()) {
    if (!step()) return kDisturbed;
    Progress();
  }
  return 0;
}

// Forks a child that allocates and ends; false if it did not end well.
bool ForkOnce() {
  const pid_t child = fork();
  if (child == 0) _exit(AllocateOnce(kLargeBytes) && AllocateOnce(100) ? 42 : 1);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 42;
}

}  // namespace

int ComputeOnly() {
  volatile uint64_t value = 1;
  return Repeat([&value] {
    for (int i = 0; i < 1000; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
    return true;
  });
}

int AllocateOnly() {
  return Repeat([] { return AllocateOnce(100) && AllocateOnce(5000); });
}

int AllocateAndSleep() {
  std::atomic<bool> healthy = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&healthy] {
      while (MayGoOn()) {
        if (!AllocateOnce(kLargeBytes) || !AllocateOnce(3000)) healthy = false;
      }
    });
  }
  const int status = Repeat([] {
    const bool intact = AllocateOnce(kLargeBytes);
    SleepBriefly();
    return intact;
  });
  for (std::thread& thread : threads) thread.join();
  return healthy ? status : kDisturbed + 1;
}

int OpenLibrariesOnly() { return Repeat(OpenOnce); }

int OpenLibrariesAndSleep() {
  return Repeat([] {
    const bool opened = OpenOnce();
    SleepBriefly();
    return opened;
  });
}

int WaitOnFutex() {
  return Repeat([] {
    syscall(SYS_futex, &Control().futex, FUTEX_WAIT, 0, nullptr, nullptr, 0);
    return true;
  });
}

int ForkAndAllocate() {
  std::atomic<bool> healthy = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&healthy, i] {
      while (MayGoOn()) {
        const bool done = i % 2 == 0 ? ForkOnce() : AllocateOnce(kLargeBytes) && AllocateOnce(64);
        if (!done) healthy = false;
        SleepBriefly();
      }
    });
  }
  const int status = Repeat([] {
    SleepBriefly();
    return true;
  });
  for (std::thread& thread : threads) thread.join();
  return healthy ? status : kDisturbed + 1;
}

}  // namespace utlz::attach
