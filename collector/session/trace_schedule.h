// When agents trace: from `delay` after the start, for `duration`.
#ifndef UTLZ_COLLECTOR_SESSION_TRACE_SCHEDULE_H_
#define UTLZ_COLLECTOR_SESSION_TRACE_SCHEDULE_H_

#include <chrono>
#include <optional>

#include "proto/ring_abi.h"

namespace utlz {

class TraceSchedule {
 public:
  using Clock = std::chrono::steady_clock;

  TraceSchedule(Clock::time_point start, std::chrono::milliseconds delay,
                std::optional<std::chrono::milliseconds> duration)
      : begin_(start + delay) {
    if (duration) end_ = begin_ + *duration;
  }

  AgentState StateAt(Clock::time_point now) const {
    const bool inside = now >= begin_ && (!end_ || now < *end_);
    return inside ? AgentState::kTracing : AgentState::kInactive;
  }

  // The next time at which StateAt changes, if it ever does again.
  std::optional<Clock::time_point> NextChange(Clock::time_point now) const {
    if (now < begin_) return begin_;
    if (end_ && now < *end_) return end_;
    return std::nullopt;
  }

 private:
  Clock::time_point begin_;
  std::optional<Clock::time_point> end_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_TRACE_SCHEDULE_H_
