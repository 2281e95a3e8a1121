// Remembers the latest windows, to recognize records whose end is wrong. If a graph is being
// replayed when tracing is switched off, CUPTI 13.0 reads the end of its nodes hundreds of
// milliseconds late, also of nodes that start while it is being switched off
// (docs/measurements/overhead.md). Guarded by the agent's encode lock.
#ifndef UTLZ_INJECT_RECORD_SWITCH_TIMES_H_
#define UTLZ_INJECT_RECORD_SWITCH_TIMES_H_

#include <cstdint>

namespace utlz::agent {

class SwitchTimes {
 public:
  // Times are CUPTI's, in nanoseconds: when it has been switched on, and when switching off begins.
  void SwitchedOn(uint64_t now_ns) {
    newest_ = (newest_ + 1) % kKept;
    windows_[newest_] = {now_ns, UINT64_MAX};
  }
  void SwitchedOff(uint64_t now_ns) { windows_[newest_].off_ns = now_ns; }

  // Whether tracing is off, and was on for no more than a moment since that time: what began then
  // may have been missed.
  bool HardlyTracedSince(uint64_t time_ns) const {
    constexpr uint64_t kMomentNs = 25'000'000;
    const uint64_t off_ns = windows_[newest_].off_ns;
    return off_ns != UINT64_MAX && time_ns + kMomentNs > off_ns;
  }

  // Whether the end of a record cannot be accepted. A kernel of its own is cut where it says that
  // it ran across a switch-off; a graph's node wherever it does not lie inside one window.
  bool Cut(uint64_t start_ns, uint64_t end_ns, bool graph_node) const {
    const Window& newest = windows_[newest_];
    if (start_ns >= newest.on_ns && end_ns <= newest.off_ns) return false;
    return graph_node ? !InsideOne(start_ns, end_ns) : Across(start_ns, end_ns);
  }

 private:
  struct Window {
    uint64_t on_ns;
    uint64_t off_ns;
  };
  // A record may come with the next window's, hardly later.
  static constexpr uint32_t kKept = 8;

  bool InsideOne(uint64_t start_ns, uint64_t end_ns) const {
    for (const Window& window : windows_) {
      if (start_ns >= window.on_ns && end_ns <= window.off_ns) return true;
    }
    return false;
  }
  bool Across(uint64_t start_ns, uint64_t end_ns) const {
    for (const Window& window : windows_) {
      if (start_ns < window.off_ns && window.off_ns < end_ns) return true;
    }
    return false;
  }

  Window windows_[kKept] = {};
  uint32_t newest_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_SWITCH_TIMES_H_
