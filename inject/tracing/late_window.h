// Lets a planned window that began late end as much later, so that it lasts as long as the
// collector planned: for whole steps of the program (WindowPlanner). On an H200 windows lasted
// about a millisecond less than a step, in which a program may launch a tenth of it. Agent's thread
// only.
#ifndef UTLZ_INJECT_TRACING_LATE_WINDOW_H_
#define UTLZ_INJECT_TRACING_LATE_WINDOW_H_

#include <algorithm>
#include <cstdint>

#include "inject/tracing/trace_budget.h"

namespace utlz::agent {

class LateWindow {
 public:
  // A window ends at most so much later than planned, however late it began.
  static constexpr uint64_t kMostNs = 5'000'000;

  // Tracing went on at `now_ns`, when `window` was the planned one.
  void SwitchedOn(const PlannedWindow& window, uint64_t now_ns) {
    window_ = {};
    if (now_ns < window.begin_ns || now_ns >= window.end_ns) return;
    window_ = window;
    window_.end_ns += std::min(now_ns - window.begin_ns, kMostNs);
  }
  // The window of `now_ns`: the late one until it is over, then the planned one.
  PlannedWindow Instead(const PlannedWindow& planned, uint64_t now_ns) const {
    return now_ns < window_.end_ns ? window_ : planned;
  }

 private:
  PlannedWindow window_;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_LATE_WINDOW_H_
