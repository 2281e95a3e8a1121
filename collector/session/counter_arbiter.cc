#include "collector/session/counter_arbiter.h"

namespace utlz {
namespace {

using std::chrono::milliseconds;

// What a calibration costs the target at most: setting up stalls its CUDA calls for 0.2 to 0.7 s,
// and every range adds about 1 ms to a synchronization (docs/measurements/overhead.md).
constexpr milliseconds kCost(1000);
// Without a budget to keep, the sampler's first windows come first: so long the program has worked.
constexpr milliseconds kAfterSampling(3000);
// Agents hand launches over each second at least: after a longer pause there were none.
constexpr milliseconds kLongestPause(1500);
// From the sampler's order to let go until the hardware is free.
constexpr milliseconds kYieldTime(800);
// Agents wait up to 3 s for an idle moment, then count for 1 s and give up 5 s later.
constexpr milliseconds kLongestCounting(9500);
// One process has finished; others on the same GPU found the counters taken, and said so.
constexpr milliseconds kAfterFirstRanges(300);

std::chrono::nanoseconds WaitFor(CountersMode mode, uint32_t budget_ppm) {
  if (mode == CountersMode::kRange) return milliseconds(0);
  if (budget_ppm == 0) return kAfterSampling;
  // Late enough that the cost is within the budget of the time that has passed.
  const std::chrono::nanoseconds within_budget = kCost * (1'000'000 / budget_ppm);
  return within_budget < kAfterSampling ? kAfterSampling : within_budget;
}

}  // namespace

CounterArbiter::CounterArbiter(CountersMode mode, uint32_t overhead_budget_ppm)
    : phase_(mode == CountersMode::kAuto || mode == CountersMode::kRange ? Phase::kWaiting
                                                                         : Phase::kNever),
      wait_(WaitFor(mode, overhead_budget_ppm)),
      // Where tracing pauses, so do launches.
      wait_of_work_(overhead_budget_ppm == 0 ? wait_ : milliseconds(0)) {}

void CounterArbiter::LaunchesSeen(Clock::time_point now) {
  if (!first_launches_) first_launches_ = now;
  if (last_launches_ && now - *last_launches_ <= kLongestPause) worked_ += now - *last_launches_;
  last_launches_ = now;
}

void CounterArbiter::RangesSeen(Clock::time_point now) {
  if (!ranges_seen_) ranges_seen_ = now;
}

CounterArbiter::Order CounterArbiter::Next(Clock::time_point now) {
  switch (phase_) {
    case Phase::kWaiting:
      if (!first_launches_ || now < *first_launches_ + wait_) return Order::kNone;
      if (worked_ < wait_of_work_) return Order::kNone;
      phase_ = Phase::kYielding;
      phase_since_ = now;
      return Order::kYieldSampler;
    case Phase::kYielding:
      if (now < phase_since_ + kYieldTime) return Order::kNone;
      phase_ = Phase::kCounting;
      phase_since_ = now;
      return Order::kAllowRanges;
    case Phase::kCounting:
      if (!(ranges_seen_ && now >= *ranges_seen_ + kAfterFirstRanges) &&
          now < phase_since_ + kLongestCounting) {
        return Order::kNone;
      }
      phase_ = Phase::kDone;
      return Order::kForbidRangesAndResumeSampler;
    case Phase::kNever:
    case Phase::kDone:
      return Order::kNone;
  }
  return Order::kNone;
}

}  // namespace utlz
