// attach_target PROGRAM CONTROL_DESCRIPTOR
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/attach/target_control.h"
#include "tests/attach/target_programs.h"

namespace utlz::attach {
namespace {

constexpr TargetProgram kPrograms[] = {
    {"epoll", EpollWithoutTimeout},
    {"epoll-short", EpollWithShortTimeout},
    {"epoll-mask", EpollAfterSignalMask},
    {"poll", PollForever},
    {"poll-timeout", PollWithTimeout},
    {"select", SelectForever},
    {"read", ReadInput},
    {"receive", ReceiveInput},
    {"accept", AcceptConnection},
    {"pause", PauseUntilSignal},
    {"sleep", RelativeSleep},
    {"sleep-absolute", AbsoluteSleep},
    {"registers", LiveRegisters},
    {"errno", ErrnoAndDlerror},
    {"old-traces", OldTraces},
    {"compute", ComputeOnly},
    {"allocate", AllocateOnly},
    {"allocate-sleep", AllocateAndSleep},
    {"dlopen", OpenLibrariesOnly},
    {"dlopen-sleep", OpenLibrariesAndSleep},
    {"futex", WaitOnFutex},
    {"fork-allocate", ForkAndAllocate},
    {"signal-handler", ReadInSignalHandler},
    {"constructor", ReadInConstructor},
    {"vfork", VforkParent},
    {"timer", TimerSignals},
    {"user-ids", ChangeUserIds},
    {"close-range", CloseRangeForever},
    {"reuse-descriptors", ReuseDescriptors},
    {"no-descriptors", NoDescriptorsLeft},
    {"no-memory", NoMemoryLeft},
    {"tight-memory", TightMemory},
    {"chroot-without-proc", ChrootWithoutProc},
    {"chroot-with-proc", ChrootWithProc},
    {"namespaces", OwnNamespaces},
    {"seccomp-permissive", PermissiveSeccomp},
    {"seccomp-forbidding", ForbiddingSeccomp},
    {"seccomp-killing", KillingSeccomp},
};

bool MapControl(int descriptor) {
  void* address = reinterpret_cast<void*>(kControlAddress);
  return mmap(address, sizeof(TargetControl), PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_FIXED_NOREPLACE, descriptor, 0) == address;
}

}  // namespace

void Ready() {
  Control().ready = 1;
}

bool MayGoOn() { return Control().stop == 0; }

void Progress() { ++Control().progress; }

}  // namespace utlz::attach

int main(int argc, char** argv) {
  using namespace utlz::attach;
  if (argc != 3 || !MapControl(std::atoi(argv[2]))) return 100;
  close(std::atoi(argv[2]));
  for (const TargetProgram& program : kPrograms) {
    if (std::strcmp(program.name, argv[1]) != 0) continue;
    const int status = program.run();
    std::printf("%s ended with %d\n", program.name, status);
    return status;
  }
  return 101;
}
