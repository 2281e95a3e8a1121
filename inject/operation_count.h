// Counts what ran while nothing was recorded. CUPTI gives every kernel, copy, set and launch of a
// graph the next number (its correlation), also while tracing is off: measured with CUPTI 13.0.85,
// docs/overhead.md. What is launched into a capture takes numbers too, and never has a record: so
// numbers that pass between two windows are told from those that pass in them.
// Guarded by the agent's encode lock.
#ifndef UTLZ_INJECT_OPERATION_COUNT_H_
#define UTLZ_INJECT_OPERATION_COUNT_H_

#include <cstdint>

namespace utlz::inject {

class OperationCount {
 public:
  // A record of something that was launched on its own.
  void Add(uint32_t number) {
    ++recorded_;
    Reach(number);
  }
  // A record of one node of the graph whose launch has this number.
  void AddNode(uint32_t number) {
    if (number == newest_graph_) return;
    if (newest_graph_ != 0 && Distance(newest_graph_, number) < 0) return;
    newest_graph_ = number;
    Add(number);
  }

  // Tracing was switched on again. The records of a window's end may still come after that, so the
  // gap is the longest row of numbers without a record until tracing is switched on the next time.
  void GapEnded() {
    in_gaps_ += gap_;
    gap_ = 0;
    after_gap_ = numbered_ != 0;
  }

  uint64_t recorded() const { return recorded_; }
  // How many numbers were given from the first one seen to the newest one seen.
  uint64_t numbered() const { return numbered_; }
  // Of these, the ones that passed while tracing was off.
  uint64_t in_gaps() const { return in_gaps_ + gap_; }

 private:
  // Numbers wrap around.
  static int32_t Distance(uint32_t from, uint32_t to) { return static_cast<int32_t>(to - from); }
  void Reach(uint32_t number) {
    if (numbered_ == 0) {
      numbered_ = 1;
    } else if (const int32_t ahead = Distance(newest_, number); ahead > 0) {
      numbered_ += static_cast<uint32_t>(ahead);
      const auto without_record = static_cast<uint32_t>(ahead - 1);
      if (after_gap_ && without_record > gap_) gap_ = without_record;
    } else {
      return;
    }
    newest_ = number;
  }

  uint64_t recorded_ = 0;
  uint64_t numbered_ = 0;
  uint64_t in_gaps_ = 0;  // those that are over
  uint64_t gap_ = 0;      // before the window that is open, or was last
  bool after_gap_ = false;
  uint32_t newest_ = 0;
  uint32_t newest_graph_ = 0;
};

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_OPERATION_COUNT_H_
