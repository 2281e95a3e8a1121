// How long which kinds of activity ran at the same moment on one device: the base of busy time,
// idle time, exposed copies and exposed communication.
//
// Activities arrive ordered by start (ActivitySorter sees to it). Time is cut into segments in
// which the set of running kinds does not change; each is added up by its set and handed to an
// observer.
//
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_CONCURRENCY_TRACKER_H_
#define UTLZ_COLLECTOR_TIMELINE_CONCURRENCY_TRACKER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "collector/timeline/activity.h"

namespace utlz {

struct ActivitySegment {
  uint64_t start_ns;
  uint64_t end_ns;
  ActivityMask mask;
  ActivityMask next = 0;  // of the activity that ends a stretch in which nothing ran
};

class ConcurrencyTracker {
 public:
  using Observer = std::function<void(const ActivitySegment&)>;

  void SetObserver(Observer observer) { observer_ = std::move(observer); }

  // One that starts before AdvanceTo's time came too late: its part before that time replaces idle
  // time, as far as there is any.
  void Add(const Activity& activity);

  // Everything that starts before `time_ns` has been added.
  void AdvanceTo(uint64_t time_ns);

  // Time during which some kind of `any` ran and none of `none`, outside untraced stretches.
  uint64_t TimeNs(ActivityMask any, ActivityMask none = 0) const;
  // Time without any activity, between the first and the last one.
  uint64_t IdleNs() const { return time_by_mask_[0]; }
  uint64_t UntracedNs() const;
  // Time of activities that came too late for their place. It was removed from idle time that the
  // observer has got already.
  uint64_t late_ns() const { return late_ns_; }
  uint64_t first_ns() const { return first_ns_; }  // 0 before the first activity
  uint64_t last_ns() const { return last_ns_; }    // latest end that time has reached

 private:
  struct End {
    uint64_t end_ns;
    ActivityKind kind;
    bool operator>(const End& other) const { return end_ns > other.end_ns; }
  };

  // `next`: the activity that begins there, if one does.
  void MoveTo(uint64_t time_ns, ActivityMask next = 0);
  void CloseUntil(uint64_t time_ns);

  Observer observer_;
  std::array<uint64_t, kActivityMasks> time_by_mask_{};
  std::array<uint32_t, kActivityKinds> running_{};
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  ActivityMask mask_ = 0;
  uint64_t now_ns_ = 0;
  uint64_t first_ns_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t late_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_CONCURRENCY_TRACKER_H_
