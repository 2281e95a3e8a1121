// Puts the activities of one device in order of their start. Records come unordered, from several
// processes, seconds late; each is held back until none that starts earlier can come (the
// watermark), or until too many are held.
//
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_MODEL_ACTIVITY_QUEUE_H_
#define UTLZ_COLLECTOR_MODEL_ACTIVITY_QUEUE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "collector/model/activity.h"

namespace utlz {

class ActivityQueue {
 public:
  static constexpr size_t kDefaultMaximumHeld = 4u << 20;

  explicit ActivityQueue(size_t maximum_held = kDefaultMaximumHeld)
      : maximum_held_(maximum_held) {}

  void Add(const Activity& activity) { held_.push_back(activity); }

  // Those that start before `watermark_ns`, in order of start; where more than the maximum are
  // held, the earliest half of them whatever the watermark says. Valid until the next call to
  // any other function. `reached_ns` is set to the time that is now complete.
  std::span<const Activity> Release(uint64_t watermark_ns, uint64_t* reached_ns);

  size_t held() const { return held_.size(); }
  bool full() const { return held_.size() >= maximum_held_; }

 private:
  size_t maximum_held_;
  std::vector<Activity> held_;
  std::vector<Activity> released_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_ACTIVITY_QUEUE_H_
