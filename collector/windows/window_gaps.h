// How much ran between the trace windows of one process, estimated from what is recorded of them:
// in operations where the agent could count them, else as lengths of time. Computes anew with each
// call; the windows must outlive it. Thread safety: none.
#ifndef UTLZ_COLLECTOR_WINDOWS_WINDOW_GAPS_H_
#define UTLZ_COLLECTOR_WINDOWS_WINDOW_GAPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/windows/window_times.h"

namespace utlz {

class WindowGaps {
 public:
  explicit WindowGaps(const WindowTimes& times) : times_(times) {}

  // The gap between a window and the next one ÷ tail and head beside it. No gap follows the newest:
  // if the agent ends one that nobody asked for, it sends an empty window.
  double Weight(uint32_t window, uint64_t now_ns) const;
  // The pool of the gap after this window. A pool's weight is the operations in all of its gaps ÷
  // those in all tails and heads beside them. Where a program's step is longer than a window, each
  // window sees another part of the step. A window of long kernels holds few operations, but a gap
  // beside it would, weighed alone, count as much as any other. Absent for a gap that is weighed
  // alone, as the first one is: the program began in the window before it.
  std::optional<uint32_t> PoolOf(uint32_t window) const;
  double PoolWeight(uint32_t pool, uint64_t now_ns) const;
  // The same gap ÷ the tail of the window before it, and ÷ the head of the one after, each for
  // itself; nothing where one of them held no operation, or those in the gap are not known.
  struct Sides {
    uint32_t before;  // the windows
    uint32_t after;
    double gap_of_tail;
    double gap_of_head;
    // Standard error of what ran in the gap ÷ how far its estimates by tail and by head differ:
    // √(tail × head) ÷ (tail + head), at most 0.5, and 0.5 after the first window, in which the
    // program began. It is √1.5 times as much for one of the two windows that is so short that it
    // stands beside another gap too, and √2 times for both.
    double error_share;
  };
  std::optional<Sides> SidesOf(uint32_t window, uint64_t now_ns) const;

  // One window and the gap after it, for those who compare them.
  struct Stretch {
    uint64_t window_ns;
    uint64_t gap_ns;
    uint64_t window_operations;
    std::optional<uint64_t> gap_operations;
  };
  // Every window but the newest.
  std::vector<Stretch> Stretches() const;

  // Windows, and what lies between those with records, in order; an open window ends at `now_ns`.
  struct Span {
    uint64_t start_ns;
    uint64_t end_ns;
    bool traced;
    // Nothing where their number is not known; nor once the agent has ended records for the
    // process, since CUPTI then gives operations no numbers.
    std::optional<uint64_t> operations;
  };
  std::vector<Span> Spans(uint64_t now_ns) const;

 private:
  // From a window with records to the next one with any: what numbers passed is known of the gaps
  // between them together.
  struct Gaps {
    uint32_t before;
    uint32_t after;
  };
  bool HasRecords(uint32_t window) const;
  Gaps GapsWith(uint32_t window) const;
  uint64_t GapNs(uint32_t window) const;
  uint64_t TimeNs(const Gaps& gaps) const;
  // What ran in them; nothing where that is not known.
  std::optional<uint64_t> Operations(const Gaps& gaps) const;
  std::optional<uint64_t> NumbersIn(const Gaps& gaps) const;
  // Where it is not known, as the program went on in the gaps before, as long as these: in windows
  // tracing slows it.
  std::optional<double> ProbableOperations(const Gaps& gaps) const;

  const WindowTimes& times_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_WINDOWS_WINDOW_GAPS_H_
