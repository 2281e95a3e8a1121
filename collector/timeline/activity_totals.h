// What a device had done by any moment: time by category, gaps and launches, each summed from the
// first activity on, and the longest launch of any stretch. Steps and the steady part of a run are
// cut out of it, wherever their bounds come from.
//
// Bounded: when full, every second point is dropped, and what lies between two points is held to
// have been spread evenly. Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_ACTIVITY_TOTALS_H_
#define UTLZ_COLLECTOR_TIMELINE_ACTIVITY_TOTALS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/timeline/time_category.h"

namespace utlz {

// What a device did between two moments. Times in nanoseconds.
struct StretchContent {
  std::array<double, kTimeCategories> time_ns{};
  std::array<double, kGapCategories> gaps{};  // how many, by category
  double launches = 0;                        // kernels that started
  // Kernels, copies, sets and launches of graphs that started: what CUPTI gives a number each.
  double operations = 0;
  uint64_t longest_ns = 0;  // of these launches, as far as the points are dense enough to tell
  uint32_t longest_kernel = kNoKernel;

  double TimeNs(TimeCategory category) const { return time_ns[static_cast<size_t>(category)]; }
  double Gaps(TimeCategory category) const { return gaps[static_cast<size_t>(category)]; }
  double KernelNs() const;  // some kernel ran
  double CopyNs() const;    // copies and no kernel
  double IdleNs() const;
  double UntracedNs() const { return TimeNs(TimeCategory::kUntraced); }
};

// A long stretch in which nothing ran.
struct LongGap {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  TimeCategory category = TimeCategory::kOtherGap;
};

class ActivityTotals {
 public:
  static constexpr size_t kMaxPoints = 65536;  // about 13 MiB
  // Gaps from this length on are listed, as far as there is room.
  static constexpr uint64_t kLongGapNs = 20'000'000;
  static constexpr size_t kMaxLongGaps = 16384;

  explicit ActivityTotals(size_t most_points = kMaxPoints) : most_points_(most_points) {}

  // Segments in order, as the device's sweep closes them.
  void Add(const ActivitySegment& segment);
  // Kernels and copies in order of start, each after the sweep has taken it.
  void AddStart(const Activity& activity);

  // What lies outside the first and the last point counts as nothing.
  StretchContent Between(uint64_t start_ns, uint64_t end_ns) const;
  // Its operations alone, in a time that does not grow with the stretch.
  double OperationsBetween(uint64_t start_ns, uint64_t end_ns) const {
    return Until(end_ns).operations - Until(start_ns).operations;
  }

  const std::vector<LongGap>& long_gaps() const { return long_gaps_; }

 private:
  // Sums up to a moment; the longest launch since the point before.
  struct Point {
    uint64_t time_ns = 0;
    std::array<uint64_t, kTimeCategories> category_ns{};
    std::array<uint64_t, kGapCategories> gaps{};
    uint64_t launches = 0;
    uint64_t operations = 0;
    uint64_t longest_ns = 0;
    uint32_t longest_kernel = kNoKernel;
  };

  static StretchContent ContentOf(const Point& point);
  void AddLaunch(const Activity& activity);
  void Append();
  // Whoever looks cuts what is running in two. The second half makes no point of its own: one at
  // `time_ns`, where the first half ended, moves to the end of the second.
  void MoveLastPoint(uint64_t time_ns);
  void Halve();
  StretchContent Until(uint64_t time_ns) const;

  size_t most_points_;
  Point now_;                   // not yet appended
  ActivityMask last_mask_ = 0;  // of what ran last
  bool last_was_gap_ = true;
  std::vector<Point> points_;
  std::vector<LongGap> long_gaps_;
  size_t stride_ = 1;    // segments a point
  size_t segments_ = 0;  // since the last point
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_ACTIVITY_TOTALS_H_
