// What a kernel did between trace windows, estimated from what it did next to each gap: a program's
// start-up, or an earlier phase, says nothing about work that went on untraced minutes later.
//
//   work in a gap = gap × (work in the tail + work in the head) ÷ (tail + head)
//
// Gaps in a row form a pool (WindowGaps::PoolOf): then each quantity above is its sum over the gaps
// of the pool.
//
// The tail is the last slices of the window before the gap (WindowTimes::TailSlice), the head the
// first slice of the window after it. Gap, tail and head are numbers of operations (kernels,
// copies, sets, launches of graphs) where the agent could count how many ran in the gap
// (inject/record/operation_count.h), else lengths of time. Constant cost a launch, constant memory
// a kernel. Thread safety: none.
#ifndef UTLZ_COLLECTOR_WINDOWS_WINDOW_WORK_H_
#define UTLZ_COLLECTOR_WINDOWS_WINDOW_WORK_H_

#include <cstdint>

#include "collector/windows/window_gaps.h"
#include "collector/windows/window_times.h"

namespace utlz {

struct KernelSum {
  double launches = 0;
  double time_ns = 0;

  KernelSum& operator+=(const KernelSum& other);
  KernelSum operator*(double factor) const { return {launches * factor, time_ns * factor}; }
};

// Work beside gaps, in the order of the gaps, weighed to what ran in them.
class WeighedWork {
 public:
  void Add(const WindowGaps& gaps, uint32_t gap, const KernelSum& beside, uint64_t now_ns);
  KernelSum Sum(const WindowGaps& gaps, uint64_t now_ns) const;

 private:
  KernelSum weighed_;
  uint32_t pool_ = 0;
  KernelSum in_pool_;  // beside its gaps
};

// One kernel of one process.
class WindowWork {
 public:
  void Add(const WindowTimes& times, WindowTimes::Place place, const KernelSum& work);
  // What it did in all gaps up to `now_ns`.
  KernelSum InGaps(const WindowTimes& times, uint64_t now_ns) const;
  // Of the time in them: from how far the amounts on the two sides of each gap differ.
  double TimeVarianceInGaps(const WindowTimes& times, uint64_t now_ns) const;

 private:
  double VarianceBefore(const WindowTimes& times, uint64_t now_ns) const;
  void AddBefore(const WindowTimes& times, uint64_t now_ns, WeighedWork* work) const;
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
  WeighedWork earlier_;  // in gaps
  double earlier_variance_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_WINDOWS_WINDOW_WORK_H_
