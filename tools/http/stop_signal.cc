#include "tools/http/stop_signal.h"

#include <poll.h>
#include <sys/eventfd.h>

namespace utlz {

StopSignal::StopSignal() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void StopSignal::Give() { eventfd_write(fd_.get(), 1); }

bool StopSignal::WaitFor(std::chrono::milliseconds time) const {
  pollfd stop = {fd_.get(), POLLIN, 0};
  return poll(&stop, 1, static_cast<int>(time.count())) > 0;
}

}  // namespace utlz
