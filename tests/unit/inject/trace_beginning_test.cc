// What a beginning that is traced throughout may cost.
#include <gtest/gtest.h>

#include <cstdint>

#include "inject/tracing/trace_budget.h"
#include "tests/support/nanoseconds.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kTurnNs = 5 * kMillisecondNs;

// Of a beginning whose first turn costs 400 ms, and that then costs 100 ms a second.
struct HeldOn {
  uint64_t traced_after_ns = 0;
  uint64_t wait_ns = 0;  // from the first pause to the first window
};

HeldOn AfterHoldingOn(bool holds_on, bool windows_follow) {
  TraceBudget budget;
  budget.Start(kSecondNs, 10'000);
  budget.SetBeginning({.holds_on = holds_on, .windows_follow = false});
  uint64_t now_ns = kSecondNs + kTurnNs;
  uint64_t launches = 400 * kMillisecondNs / kTracedLaunchNs;
  EXPECT_EQ(budget.ShouldTrace(now_ns, launches, 0, {}), holds_on);
  budget.SetBeginning({.holds_on = false, .windows_follow = windows_follow});
  HeldOn after;
  while (budget.ShouldTrace(now_ns, launches, 0, {})) {
    now_ns += kTurnNs;
    launches += kTurnNs / 10 / kTracedLaunchNs;  // 100 ms a second
    after.traced_after_ns += kTurnNs;
  }
  const uint64_t ready_ns = budget.ReadyNs(now_ns);
  after.wait_ns = ready_ns == 0 ? 0 : ready_ns - now_ns;
  return after;
}

TEST(TraceBeginning, WindowsDoNotPayForABeginningThatHeldOn) {
  EXPECT_GT(AfterHoldingOn(false, true).wait_ns, kSecondNs);
  const HeldOn held_on = AfterHoldingOn(true, true);
  EXPECT_EQ(held_on.wait_ns, 0u);
  EXPECT_EQ(held_on.traced_after_ns, 0u);
}

// It may owe 20 ms, and has spent its credit.
TEST(TraceBeginning, ABeginningThatHeldOnGoesOnForLittleMore) {
  EXPECT_NEAR(static_cast<double>(AfterHoldingOn(true, false).traced_after_ns), 0.2e9, 0.04e9);
}

// How long a beginning is traced that costs 100 ms a second.
uint64_t TracedFromStartNs(bool windows_follow) {
  TraceBudget budget;
  budget.Start(kSecondNs, 10'000);
  budget.SetBeginning({.holds_on = false, .windows_follow = windows_follow});
  const uint64_t launches_per_turn = kTurnNs / 10 / kTracedLaunchNs;
  uint64_t launches = 0;
  uint64_t now_ns = kSecondNs;
  while (budget.ShouldTrace(now_ns, launches, 0, {})) {
    now_ns += kTurnNs;
    launches += launches_per_turn;
  }
  return now_ns - kSecondNs;
}

TEST(TraceBeginning, ABeginningKeepsHalfOfTheCreditForTheWindowsThatFollow) {
  EXPECT_NEAR(static_cast<double>(TracedFromStartNs(true)), 0.25e9, 0.02e9);
}

TEST(TraceBeginning, ABeginningAfterWhichNothingMayComeSpendsTheWholeCreditAndMore) {
  EXPECT_NEAR(static_cast<double>(TracedFromStartNs(false)), 0.75e9, 0.03e9);
}

}  // namespace
}  // namespace utlz::agent
