// Ends whatever waits for a server, at once. Thread safety: every call from any thread.
#ifndef UTLZ_TOOLS_HTTP_STOP_SIGNAL_H_
#define UTLZ_TOOLS_HTTP_STOP_SIGNAL_H_

#include <chrono>

#include "collector/unique_fd.h"

namespace utlz {

class StopSignal {
 public:
  StopSignal();

  void Give();
  // Readable once the signal is given.
  int fd() const { return fd_.get(); }
  // Waits so long, or until the signal is given; true: it is.
  bool WaitFor(std::chrono::milliseconds time) const;

 private:
  UniqueFd fd_;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_HTTP_STOP_SIGNAL_H_
