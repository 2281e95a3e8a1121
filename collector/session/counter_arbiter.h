// When agents may count user ranges, and who has the GPU's counters meanwhile: the hardware serves
// either the sampler or ranges. Pure decisions on the times that callers pass; one calibration a
// run.
//
//   waiting → yielding (the sampler lets go) → counting (agents may start) → done (the sampler
//   again)
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_COUNTER_ARBITER_H_
#define UTLZ_COLLECTOR_SESSION_COUNTER_ARBITER_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "collector/session/session_options.h"

namespace utlz {

class CounterArbiter {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Order {
    kNone,
    kYieldSampler,
    kAllowRanges,
    kForbidRangesAndResumeSampler,
  };

  CounterArbiter(CountersMode mode, uint32_t overhead_budget_ppm);

  // Some agent handed launches over.
  void LaunchesSeen(Clock::time_point now);
  // Some agent sent its ranges, or word that there are none.
  void RangesSeen(Clock::time_point now);

  // What is to be done now; each order is given once.
  Order Next(Clock::time_point now);

 private:
  enum class Phase { kNever, kWaiting, kYielding, kCounting, kDone };

  Phase phase_;
  std::chrono::nanoseconds wait_;
  std::chrono::nanoseconds wait_of_work_;
  std::optional<Clock::time_point> first_launches_;
  std::optional<Clock::time_point> last_launches_;
  std::chrono::nanoseconds worked_{0};  // between launches that followed each other
  std::optional<Clock::time_point> ranges_seen_;
  Clock::time_point phase_since_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_COUNTER_ARBITER_H_
