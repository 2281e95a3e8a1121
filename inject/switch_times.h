// When tracing was switched off, to know the records that were cut by it: of a graph's nodes that
// are in flight at that moment, CUPTI 13.0 reads the end hundreds of milliseconds late
// (docs/overhead.md). Guarded by the agent's encode lock.
#ifndef UTLZ_INJECT_SWITCH_TIMES_H_
#define UTLZ_INJECT_SWITCH_TIMES_H_

#include <cstdint>

namespace utlz::inject {

class SwitchTimes {
 public:
  // Times are CUPTI's, in nanoseconds.
  void SwitchedOn(uint64_t now_ns) {
    on_ns_ = now_ns;
    off_ns_ = UINT64_MAX;
  }
  void SwitchedOff(uint64_t now_ns) {
    off_ns_ = now_ns;
    past_[next_++ % kKept] = now_ns;
  }

  // Whether a record says that it ran across a switch-off: its end cannot be believed.
  bool Cut(uint64_t start_ns, uint64_t end_ns) const {
    if (start_ns >= on_ns_ && end_ns <= off_ns_) return false;
    for (const uint64_t off_ns : past_) {
      if (off_ns != 0 && start_ns < off_ns && off_ns < end_ns) return true;
    }
    return false;
  }

 private:
  // Such a record may come with the next window's, hardly later.
  static constexpr uint32_t kKept = 8;
  uint64_t on_ns_ = 0;
  uint64_t off_ns_ = UINT64_MAX;
  uint64_t past_[kKept] = {};
  uint32_t next_ = 0;
};

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_SWITCH_TIMES_H_
