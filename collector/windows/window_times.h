// The trace windows of one process, as they were recorded, and what the agent and the records that
// came counted of them. Operations are kernels, copies, sets and launches of graphs
// (inject/record/operation_count.h). What ran between the windows: window_gaps.h.
//
//   window 0                     gap          window 1             gap
//   |slice 0|slice 1|slice 2|- - - - - - - - -|slice 0|slice 1|- - - - - - -
//                   |  tail |                 |  head |
//                                             |     tail      |
//
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_WINDOWS_WINDOW_TIMES_H_
#define UTLZ_COLLECTOR_WINDOWS_WINDOW_TIMES_H_

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
  const Window& operator[](uint32_t window) const { return windows_[window]; }
  // Of work that starts at a time in the newest window. What was under way when it was closed
  // belongs to its last slice.
  Place PlaceOf(uint64_t start_ns) const;
  // Whether that is surely `place`: cheaper, for one launch after another.
  bool IsAt(Place place, uint64_t start_ns) const {
    if (windows_.empty()) return true;
    const uint64_t begin_ns = windows_[place.window].start_ns + place.slice * kSliceNs;
    return start_ns - begin_ns < kSliceNs;
  }

  // As of `now_ns`, as is all below: an open window ends then.
  uint64_t LengthNs(uint32_t window, uint64_t now_ns) const;
  uint32_t LastSlice(uint32_t window, uint64_t now_ns) const;
  // From which on they are the window's tail: the last two, or of a run's first window, where the
  // program begins, the last one if that is not short.
  uint32_t TailSlice(uint32_t window, uint64_t now_ns) const;
  uint64_t TailNs(uint32_t window, uint64_t now_ns) const;
  uint64_t HeadNs(uint32_t window, uint64_t now_ns) const;
  uint64_t TailOperations(uint32_t window, uint64_t now_ns) const;
  uint64_t HeadOperations(uint32_t window) const { return windows_[window].in_head; }

 private:
  std::vector<Window> windows_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_WINDOWS_WINDOW_TIMES_H_
