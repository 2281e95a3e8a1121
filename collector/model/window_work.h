// What a kernel did between trace windows, estimated from what it did next to each gap: a program's
// start-up, or an earlier phase, says nothing about work that went on untraced minutes later.
//
//   work in a gap = gap × (work in the tail + work in the head) ÷ (length of tail + length of head)
//
// The tail is the last one to two slices of the window before the gap, the head the first slice of
// the window after it. Constant cost a launch, constant memory a kernel. Thread safety: none.
#ifndef UTLZ_COLLECTOR_MODEL_WINDOW_WORK_H_
#define UTLZ_COLLECTOR_MODEL_WINDOW_WORK_H_

#include <cstdint>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz {

// The windows of one process in which kernels were traced, in the order in which they came.
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

  bool empty() const { return windows_.empty(); }
  // Of work that starts at a time in the newest window. What was under way when it was closed
  // belongs to its last slice.
  Place PlaceOf(uint64_t start_ns) const;

  // As of `now_ns`.
  uint32_t LastSlice(uint32_t window, uint64_t now_ns) const;
  // The gap between a window and the next one ÷ the length of what is beside it. No gap follows the
  // newest: the agent ends one that was not wished for by an empty window.
  double GapWeight(uint32_t window, uint64_t now_ns) const;

 private:
  struct Window {
    uint64_t start_ns;
    uint64_t end_ns;  // 0: open
  };
  uint64_t LengthNs(uint32_t window, uint64_t now_ns) const;
  double TailNs(uint32_t window, uint64_t now_ns) const;
  double HeadNs(uint32_t window, uint64_t now_ns) const;

  std::vector<Window> windows_;
};

struct KernelSum {
  double launches = 0;
  double time_ns = 0;

  KernelSum& operator+=(const KernelSum& other);
  KernelSum operator*(double factor) const { return {launches * factor, time_ns * factor}; }
};

// One kernel of one process.
class WindowWork {
 public:
  void Add(const WindowTimes& times, WindowTimes::Place place, uint64_t duration_ns);
  // What it did in all gaps up to `now_ns`.
  KernelSum InGaps(const WindowTimes& times, uint64_t now_ns) const;

 private:
  KernelSum HeadInGap(const WindowTimes& times, uint64_t now_ns) const;
  KernelSum Tail(const WindowTimes& times, uint64_t now_ns) const;
  void EnterWindow(const WindowTimes& times, uint32_t window);
  void EnterSlice(uint32_t slice);

  uint32_t window_ = 0;
  uint32_t slice_ = 0;
  KernelSum head_;        // in the first slice of window_
  KernelSum slice_sum_;   // in slice_
  KernelSum before_sum_;  // in the slice before it
  // The tail of the window with work before this one: its gap is weighed when the length of the
  // head after it is known for good.
  uint32_t tail_window_ = 0;
  KernelSum tail_;
  KernelSum earlier_;  // in gaps, weighed
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_WINDOW_WORK_H_
