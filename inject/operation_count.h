// Counts what ran while nothing was recorded. CUPTI gives every kernel, copy, set and launch of a
// graph the next number (its correlation), also while tracing is off: measured with CUPTI 13.0.85,
// docs/overhead.md. Between two windows ran, exactly, as many as numbers passed that no record had.
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

  uint64_t recorded() const { return recorded_; }
  // How many numbers were given from the first one seen to the newest one seen.
  uint64_t numbered() const { return numbered_; }

 private:
  // Numbers wrap around.
  static int32_t Distance(uint32_t from, uint32_t to) { return static_cast<int32_t>(to - from); }
  void Reach(uint32_t number) {
    if (numbered_ == 0) {
      numbered_ = 1;
    } else if (const int32_t ahead = Distance(newest_, number); ahead > 0) {
      numbered_ += static_cast<uint32_t>(ahead);
    } else {
      return;
    }
    newest_ = number;
  }

  uint64_t recorded_ = 0;
  uint64_t numbered_ = 0;
  uint32_t newest_ = 0;
  uint32_t newest_graph_ = 0;
};

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_OPERATION_COUNT_H_
