// Bounds what a listening socket costs its process, whoever connects to it: one that any user can
// reach, or that has a connection waiting while there is no descriptor left to accept it with,
// would keep the process active. Such a listener is left alone for a second; who waits is served
// then.
#ifndef UTLZ_PROTO_LISTENER_PACE_H_
#define UTLZ_PROTO_LISTENER_PACE_H_

#include <errno.h>

#include <cstdint>

namespace utlz {

class ListenerPace {
 public:
  static constexpr uint64_t kPauseNs = 1'000'000'000;
  static constexpr uint32_t kMostRefusals = 16;  // before a pause

  // Times are of CLOCK_MONOTONIC. Whether the listener is to be polled and accepted from.
  bool MayListen(uint64_t now_ns) const { return now_ns >= paused_until_ns_; }
  // When it is again.
  uint64_t paused_until_ns() const { return paused_until_ns_; }

  // A connection was turned away.
  void Refused(uint64_t now_ns) {
    if (now_ns >= counted_from_ns_ + kPauseNs) {
      counted_from_ns_ = now_ns;
      refusals_ = 0;
    }
    if (++refusals_ >= kMostRefusals) paused_until_ns_ = now_ns + kPauseNs;
  }

  // accept() failed with this errno. True where another connection may be accepted at once.
  bool Failed(int error, uint64_t now_ns) {
    if (error == EINTR || error == ECONNABORTED) return true;
    if (error != EAGAIN) paused_until_ns_ = now_ns + kPauseNs;
    return false;
  }

 private:
  uint64_t paused_until_ns_ = 0;
  uint64_t counted_from_ns_ = 0;
  uint32_t refusals_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_PROTO_LISTENER_PACE_H_
