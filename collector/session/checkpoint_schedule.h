// When the state of a run is worth a summary in its profile, so that a profile whose collector was
// killed opens at once although its run was long.
//
// After one minute, then whenever the run has become twice as long, but at least twice an hour: few
// enough that the profile does not grow by them, often enough that little is missing.
#ifndef UTLZ_COLLECTOR_SESSION_CHECKPOINT_SCHEDULE_H_
#define UTLZ_COLLECTOR_SESSION_CHECKPOINT_SCHEDULE_H_

#include <algorithm>
#include <chrono>

namespace utlz {

class CheckpointSchedule {
 public:
  using Clock = std::chrono::steady_clock;

  explicit CheckpointSchedule(Clock::time_point start) : start_(start), next_(start + kFirst) {}

  // True once for each checkpoint, when its time has come.
  bool Due(Clock::time_point now) {
    if (now < next_) return false;
    next_ = now + std::min<Clock::duration>(now - start_, kLongest);
    return true;
  }

 private:
  static constexpr Clock::duration kFirst = std::chrono::minutes(1);
  static constexpr Clock::duration kLongest = std::chrono::minutes(30);

  Clock::time_point start_;
  Clock::time_point next_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_CHECKPOINT_SCHEDULE_H_
