// Preloaded into utlz: once the FIFO that UTLZ_TEST_STUCK names is there, the collector's loop
// hangs in epoll_wait for good. The FIFO's reader is told so first.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cstdlib>

extern "C" __attribute__((visibility("default"))) int epoll_wait(int epoll, epoll_event* events,
                                                                 int maximum, int timeout_ms) {
  const char* fifo = std::getenv("UTLZ_TEST_STUCK");
  if (fifo != nullptr && access(fifo, F_OK) == 0) {
    const int reader = open(fifo, O_WRONLY | O_CLOEXEC);
    if (write(reader, "stuck\n", 6) != 6) std::abort();
    while (true) pause();
  }
  using EpollWait = int (*)(int, epoll_event*, int, int);
  static const auto real = reinterpret_cast<EpollWait>(dlsym(RTLD_NEXT, "epoll_wait"));
  return real(epoll, events, maximum, timeout_ms);
}
