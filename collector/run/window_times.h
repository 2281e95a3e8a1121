// The windows in which the kernels of one process were traced, and how much ran between them: in
// operations (kernels, copies, sets, launches of graphs) where the agent could tell how many
// (inject/record/operation_count.h), else as lengths of time. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_WINDOW_TIMES_H_
#define UTLZ_COLLECTOR_RUN_WINDOW_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz {

// In the order in which they came.
class WindowTimes {
 public:
  static constexpr uint64_t kSliceNs = 500'000'000;
  // A day and a half at two windows a second; later ones are taken for the last.
  static constexpr size_t kMaxWindows = 1 << 18;

  struct Place {
    uint32_t window;
    uint32_t slice;
  };

  // A window that opens (end 0), and later the same one closed.
  void Add(const TraceWindow& window);
  // What the agent has counted of operations by now; before a window opens it does so once more.
  void AddStatus(const AgentStatus& status);
  // Operations of the newest window.
  void CountOperations(Place place, uint32_t operations = 1);

  bool empty() const { return windows_.empty(); }
  size_t size() const { return windows_.size(); }
  // Of work that starts at a time in the newest window. What was under way when it was closed
  // belongs to its last slice.
  Place PlaceOf(uint64_t start_ns) const;
  // Whether that is surely `place`: cheaper, for one launch after another.
  bool IsAt(Place place, uint64_t start_ns) const {
    if (windows_.empty()) return true;
    const uint64_t begin_ns = windows_[place.window].start_ns + place.slice * kSliceNs;
    return start_ns - begin_ns < kSliceNs;
  }

  // As of `now_ns`.
  uint32_t LastSlice(uint32_t window, uint64_t now_ns) const;
  // From which on they are the window's tail: the last two, or of a run's first window, where the
  // program begins, the last one if that is not short.
  uint32_t TailSlice(uint32_t window, uint64_t now_ns) const;
  // The gap between a window and the next one ÷ what is beside it. No gap follows the
  // newest: the agent ends one that was not wished for by an empty window.
  double GapWeight(uint32_t window, uint64_t now_ns) const;
  // The same gap ÷ the tail of the window before it, and ÷ the head of the one after, each for
  // itself; nothing where one of them held no operation, or those in the gap cannot be told.
  struct Sides {
    uint32_t before;  // the windows
    uint32_t after;
    double gap_of_tail;
    double gap_of_head;
    // How uncertain what ran in the gap is ÷ how far these two tell different amounts, both being
    // as uncertain as they are short; half of it where the program began in one.
    double trust;
  };
  std::optional<Sides> SidesOfGap(uint32_t window, uint64_t now_ns) const;

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
    // Nothing where their number is not known; nor once the agent has ended records for the process,
    // since CUPTI then gives operations no numbers.
    std::optional<uint64_t> operations;
  };
  std::vector<Span> Spans(uint64_t now_ns) const;

 private:
  struct Window {
    uint64_t start_ns;
    uint64_t end_ns;  // 0: open
    // As the agent counted since it began, at the window's end.
    uint64_t recorded = 0;
    uint64_t numbered = 0;
    uint64_t unrecorded = 0;  // of these numbers; never less than before an earlier window
    std::optional<uint64_t> in_gaps = std::nullopt;  // of these numbers, given in gaps
    // As they arrived here: in the first slice, in the newest one with any, in the one before that.
    uint32_t slice = 0;
    uint32_t in_head = 0;
    uint32_t in_slice = 0;
    uint32_t in_slice_before = 0;
    bool ended = false;  // after it nothing was counted
  };
  // From a window with records to the next one with any: what numbers passed is known of the gaps
  // between them together.
  struct Gaps {
    uint32_t before;
    uint32_t after;
  };
  bool HasRecords(uint32_t window) const;
  Gaps GapsWith(uint32_t window) const;
  uint64_t TimeNs(const Gaps& gaps) const;
  // What ran in them; nothing where that cannot be told.
  std::optional<uint64_t> Operations(const Gaps& gaps) const;
  std::optional<uint64_t> NumbersIn(const Gaps& gaps) const;
  // Where it cannot be told, as the program went on in the gaps before, as long as these: in
  // windows tracing slows it.
  std::optional<double> ProbableOperations(const Gaps& gaps) const;
  uint64_t GapNs(uint32_t window) const;
  uint64_t TailOperations(uint32_t window, uint64_t now_ns) const;
  uint64_t LengthNs(uint32_t window, uint64_t now_ns) const;
  double TailNs(uint32_t window, uint64_t now_ns) const;
  double HeadNs(uint32_t window, uint64_t now_ns) const;

  std::vector<Window> windows_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_WINDOW_TIMES_H_
