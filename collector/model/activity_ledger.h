// What a device had done by any moment: time with kernels, with copies alone, not traced, and
// launches, each summed from the first activity on, and the longest launch of any stretch. Steps
// are cut out of it, wherever their bounds come from.
//
// Bounded: when full, every second point is dropped, and what lies between two points is held to
// have been spread evenly. Thread safety: none.
#ifndef UTLZ_COLLECTOR_MODEL_ACTIVITY_LEDGER_H_
#define UTLZ_COLLECTOR_MODEL_ACTIVITY_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/model/activity_sweep.h"

namespace utlz {

// What a device did between two moments. Times in nanoseconds.
struct StretchContent {
  double kernel_ns = 0;  // some kernel ran
  double copy_ns = 0;    // copies and no kernel
  double untraced_ns = 0;
  double launches = 0;      // kernels that started
  uint64_t longest_ns = 0;  // of these launches, as far as the points are dense enough to tell
  uint32_t longest_kernel = kNoKernel;
};

class ActivityLedger {
 public:
  static constexpr size_t kMaxPoints = 65536;

  // Segments in order, as the device's sweep closes them.
  void Add(const ActivitySegment& segment);
  // Launches in order of start, each after the sweep has taken it.
  void AddLaunch(const Activity& activity);

  // What lies outside the first and the last point counts as nothing.
  StretchContent Between(uint64_t start_ns, uint64_t end_ns) const;

 private:
  // Sums up to a moment; the longest launch since the point before.
  struct Point {
    uint64_t time_ns = 0;
    uint64_t kernel_ns = 0;
    uint64_t copy_ns = 0;
    uint64_t untraced_ns = 0;
    uint64_t launches = 0;
    uint64_t longest_ns = 0;
    uint32_t longest_kernel = kNoKernel;
  };

  void Append();
  void Halve();
  StretchContent Until(uint64_t time_ns) const;

  Point now_;  // not yet appended
  std::vector<Point> points_;
  size_t stride_ = 1;    // segments a point
  size_t segments_ = 0;  // since the last point
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_ACTIVITY_LEDGER_H_
