// Programs that wait, and would notice a wait that ends otherwise than it should.
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/attach/target_control.h"
#include "tests/attach/target_programs.h"

namespace utlz::attach {
namespace {

constexpr int kDisturbed = 10;
constexpr int kInput = 0;

bool TakeByte() {
  char byte = 0;
  return recv(kInput, &byte, 1, MSG_DONTWAIT) == 1;
}

// Calls `wait` until the test asks for the end. It must return 1 each time that the test sends a
// byte, and never anything else.
template <typename Wait>
int CountWakes(Wait wait) {
  Ready();
  while (MayGoOn()) {
    if (wait() != 1 || !TakeByte()) return kDisturbed;
    Progress();
  }
  return 0;
}

int MakeEpoll() {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event = {};
  event.events = EPOLLIN;
  epoll_ctl(epoll, EPOLL_CTL_ADD, kInput, &event);
  return epoll;
}

void DoNothing(int) {}

}  // namespace

int EpollWithoutTimeout() {
  const int epoll = MakeEpoll();
  return CountWakes([epoll] {
    epoll_event event = {};
    return epoll_wait(epoll, &event, 1, -1);
  });
}

int EpollWithShortTimeout() {
  const int epoll = MakeEpoll();
  Ready();
  while (MayGoOn()) {
    epoll_event event = {};
    const int count = epoll_wait(epoll, &event, 1, 50);
    if (count < 0) return kDisturbed;
    if (count == 1 && !TakeByte()) return kDisturbed + 1;
    Progress();
  }
  return 0;
}

// epoll_pwait changes the signal mask while it waits: it must be back afterwards.
int EpollAfterSignalMask() {
  const int epoll = MakeEpoll();
  sigset_t during;
  sigset_t blocked;
  sigemptyset(&during);
  sigemptyset(&blocked);
  sigaddset(&during, SIGUSR2);
  sigaddset(&blocked, SIGUSR1);
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  return CountWakes([&] {
    epoll_event event = {};
    const int count = epoll_pwait(epoll, &event, 1, -1, &during);
    sigset_t now;
    sigprocmask(SIG_SETMASK, nullptr, &now);
    const bool same = sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGUSR2) == 0;
    return same ? count : -1;
  });
}

int PollForever() {
  return CountWakes([] {
    pollfd input = {kInput, POLLIN, 0};
    return poll(&input, 1, -1);
  });
}

int PollWithTimeout() {
  Ready();
  while (MayGoOn()) {
    pollfd input = {kInput, POLLIN, 0};
    const int count = poll(&input, 1, 50);
    if (count < 0) return kDisturbed;
    if (count == 1 && !TakeByte()) return kDisturbed + 1;
    Progress();
  }
  return 0;
}

int SelectForever() {
  return CountWakes([] {
    fd_set inputs;
    FD_ZERO(&inputs);
    FD_SET(kInput, &inputs);
    return select(kInput + 1, &inputs, nullptr, nullptr, nullptr);
  });
}

int ReadInput() {
  Ready();
  while (MayGoOn()) {
    char byte = 0;
    if (read(kInput, &byte, 1) != 1) return kDisturbed;
    Progress();
  }
  return 0;
}

int ReceiveInput() {
  Ready();
  while (MayGoOn()) {
    char byte = 0;
    iovec payload = {&byte, 1};
    msghdr message = {};
    message.msg_iov = &payload;
    message.msg_iovlen = 1;
    if (recvmsg(kInput, &message, 0) != 1) return kDisturbed;
    Progress();
  }
  return 0;
}

// The test ends this wait by a signal, which a program gets as EINTR.
int AcceptConnection() {
  struct sigaction action = {};
  action.sa_handler = DoNothing;
  sigaction(SIGUSR1, &action, nullptr);
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t));
  listen(listener, 1);
  Ready();
  const int result = accept(listener, nullptr, nullptr);
  Progress();
  return result < 0 && errno == EINTR && !MayGoOn() ? 0 : kDisturbed;
}

int PauseUntilSignal() {
  struct sigaction action = {};
  action.sa_handler = DoNothing;
  sigaction(SIGUSR1, &action, nullptr);
  Ready();
  pause();
  Progress();
  return MayGoOn() ? kDisturbed : 0;
}

int RelativeSleep() {
  Ready();
  while (MayGoOn()) {
    const timespec duration = {0, 20'000'000};
    if (nanosleep(&duration, nullptr) != 0) return kDisturbed;
    Progress();
  }
  return 0;
}

int AbsoluteSleep() {
  timespec wake_time = {};
  clock_gettime(CLOCK_MONOTONIC, &wake_time);
  Ready();
  while (MayGoOn()) {
    wake_time.tv_nsec += 20'000'000;
    wake_time.tv_sec += wake_time.tv_nsec / 1'000'000'000;
    wake_time.tv_nsec %= 1'000'000'000;
    if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake_time, nullptr) != 0) {
      return kDisturbed;
    }
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const bool early = now.tv_sec < wake_time.tv_sec ||
                       (now.tv_sec == wake_time.tv_sec && now.tv_nsec < wake_time.tv_nsec);
    if (early) return kDisturbed + 1;
    Progress();
  }
  return 0;
}

// What dlopen leaves in thread-local variables.
int ErrnoAndDlerror() {
  return CountWakes([] {
    errno = 4711;
    pollfd input = {kInput, POLLIN, 0};
    const int count = poll(&input, 1, -1);
    return errno == 4711 && dlerror() == nullptr ? count : -1;
  });
}

// Return addresses into the loader and the allocator, left on the stack by calls that are over,
// lie within the frame that waits.
int OldTraces() {
  dlclose(dlopen("libutil.so.1", RTLD_NOW));
  return CountWakes([] {
    [[maybe_unused]] volatile char room[32 << 10];
    room[0] = 0;
    pollfd input = {kInput, POLLIN, 0};
    return poll(&input, 1, -1);
  });
}

}  // namespace utlz::attach
