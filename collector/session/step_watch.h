// How long the job's steps take, found out anew at a pace that costs 0.5 % of a core: trace windows
// last for whole steps (window_planner.h). Thread safety: none.
#ifndef UTLZ_COLLECTOR_SESSION_STEP_WATCH_H_
#define UTLZ_COLLECTOR_SESSION_STEP_WATCH_H_

#include <cstdint>

#include "collector/metrics/renewal_pace.h"
#include "collector/run/run_state.h"

namespace utlz {

// The median of the steps that were traced whole, pauses left out; 0 where there are none. For a
// study: it takes some milliseconds.
uint64_t MedianStepNs(const RunState& state);

class StepWatch {
 public:
  // Steps that are known seldom change, and other studies wait for this one.
  static constexpr uint64_t kPauseOnceKnownNs = 10'000'000'000;

  // Times are monotonic.
  bool Due(uint64_t now_ns) const {
    return pace_.Due(now_ns) && (step_ns_ == 0 || now_ns >= looked_ns_ + kPauseOnceKnownNs);
  }
  // A look that began at `now_ns` took so much processor time.
  void Looked(uint64_t now_ns, uint64_t took_ns, uint64_t step_ns) {
    pace_.Renewed(now_ns, took_ns);
    looked_ns_ = now_ns;
    step_ns_ = step_ns;
  }
  // 0: not known.
  uint64_t step_ns() const { return step_ns_; }

 private:
  RenewalPace pace_;
  uint64_t looked_ns_ = 0;
  uint64_t step_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_STEP_WATCH_H_
