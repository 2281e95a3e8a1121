#include "collector/timeline/concurrency_tracker.h"

#include <algorithm>

namespace utlz {

// Idle time is only what lies between activities: it is added when the next one begins, so the
// clock stands still while nothing runs.
void ConcurrencyTracker::MoveTo(uint64_t time_ns, ActivityMask next) {
  if (time_ns <= now_ns_) return;
  time_by_mask_[mask_] += time_ns - now_ns_;
  if (observer_) {
    observer_({.start_ns = now_ns_, .end_ns = time_ns, .mask = mask_, .next = next});
  }
  now_ns_ = time_ns;
}

void ConcurrencyTracker::CloseUntil(uint64_t time_ns) {
  while (!ends_.empty() && ends_.top().end_ns <= time_ns) {
    const End end = ends_.top();
    ends_.pop();
    MoveTo(end.end_ns);
    const auto kind = static_cast<size_t>(end.kind);
    if (--running_[kind] == 0) mask_ = static_cast<ActivityMask>(mask_ & ~MaskOf(end.kind));
    last_ns_ = std::max(last_ns_, now_ns_);
  }
}

void ConcurrencyTracker::Add(const Activity& activity) {
  if (activity.end_ns <= activity.start_ns) return;
  if (first_ns_ == 0) first_ns_ = now_ns_ = activity.start_ns;
  CloseUntil(activity.start_ns);
  if (activity.start_ns < now_ns_) {
    const uint64_t late_ns = std::min(activity.end_ns, now_ns_) - activity.start_ns;
    const uint64_t moved_ns = std::min(late_ns, time_by_mask_[0]);
    time_by_mask_[0] -= moved_ns;
    time_by_mask_[MaskOf(activity.kind)] += moved_ns;
    late_ns_ += moved_ns;
  }
  if (activity.end_ns <= now_ns_) return;
  MoveTo(activity.start_ns, MaskOf(activity.kind));
  ++running_[static_cast<size_t>(activity.kind)];
  mask_ = static_cast<ActivityMask>(mask_ | MaskOf(activity.kind));
  ends_.push({activity.end_ns, activity.kind});
}

void ConcurrencyTracker::AdvanceTo(uint64_t time_ns) {
  if (first_ns_ == 0) return;
  CloseUntil(time_ns);
  if (mask_ != 0) {
    MoveTo(time_ns);
    last_ns_ = std::max(last_ns_, now_ns_);
  }
}

uint64_t ConcurrencyTracker::TimeNs(ActivityMask any, ActivityMask none) const {
  uint64_t time_ns = 0;
  for (unsigned mask = 0; mask < time_by_mask_.size(); ++mask) {
    if ((mask & any) != 0 && (mask & none) == 0 && (mask & kUntracedMask) == 0) {
      time_ns += time_by_mask_[mask];
    }
  }
  return time_ns;
}

uint64_t ConcurrencyTracker::UntracedNs() const {
  uint64_t time_ns = 0;
  for (unsigned mask = 0; mask < time_by_mask_.size(); ++mask) {
    if ((mask & kUntracedMask) != 0) time_ns += time_by_mask_[mask];
  }
  return time_ns;
}

}  // namespace utlz
