// Puts the activities of one device in order of their start. Records come unordered, from several
// processes, seconds late; each is held back until none that starts earlier can come (the
// watermark), or until too many are held.
//
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_ACTIVITY_SORTER_H_
#define UTLZ_COLLECTOR_TIMELINE_ACTIVITY_SORTER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "collector/timeline/activity.h"

namespace utlz {

class ActivitySorter {
 public:
  static constexpr size_t kDefaultMaximumHeld = 3u << 19;  // 48 MiB

  explicit ActivitySorter(size_t maximum_held = kDefaultMaximumHeld)
      : maximum_held_(maximum_held) {}

  void Add(const Activity& activity) {
    const bool in_order = ordered_ == held_.size() &&
                          (first_ == ordered_ || held_.back().start_ns <= activity.start_ns);
    held_.push_back(activity);
    if (in_order) ordered_ = held_.size();
  }

  // Those that start before `watermark_ns`, in order of start; where more than the maximum are
  // held, the earliest half of them whatever the watermark says. Valid until the next call to
  // any other function. `reached_ns` is set to the time that is now complete.
  std::span<const Activity> Release(uint64_t watermark_ns, uint64_t* reached_ns);

  size_t held() const { return held_.size() - first_; }
  bool full() const { return held() >= maximum_held_; }
  // A time before which about half of what is held starts; something must be.
  uint64_t MiddleNs() const;

 private:
  void DropReleased();
  void Order();

  size_t maximum_held_;
  // Released already up to first_, in order from there up to ordered_: records come nearly in
  // order, so little is moved where only the others are sorted in.
  std::vector<Activity> held_;
  size_t first_ = 0;
  size_t ordered_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_ACTIVITY_SORTER_H_
