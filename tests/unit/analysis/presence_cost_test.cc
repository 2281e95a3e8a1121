#include "collector/analysis/presence_cost.h"

#include <gtest/gtest.h>

#include "proto/ring_abi.h"
#include "proto/tracing_cost.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

// A process that lived for ten seconds, of which the first was traced, with 20,000 operations, and
// that began 180,000 more.
class PresenceCostTest : public testing::Test {
 protected:
  PresenceCostTest() : process_(*state_.processes.Get(1)) {
    process_.info.set_start_time_ns(kRunStartNs);
    process_.has_status = true;
    process_.status.set_operations_recorded(20'000);
    process_.status.set_operations_in_gaps(180'000);
    TraceWindow window;
    window.set_flags(kTraceKernels);
    window.set_start_ns(kRunStartNs);
    window.set_end_ns(kRunStartNs + kSecondNs);
    process_.coverage.Add(window);
  }
  std::optional<PresenceCost> Cost(double idle_share) {
    return PresenceCostOf(process_, idle_share, kRunStartNs + 10 * kSecondNs);
  }

  RunState state_;
  ProcessState& process_;
};

TEST_F(PresenceCostTest, IsTheHookOfEveryLaunchThatWasNotRecorded) {
  process_.status.set_records_state(RECORDS_IN_WINDOWS);
  ASSERT_TRUE(Cost(0.9).has_value());
  const double traced_launch_ns = kTracedShareOfLaunch * 9e9 / 180'000;
  EXPECT_NEAR(Cost(0.9)->share, 180'000e-10 * kHookShareOfTracedLaunch * traced_launch_ns, 1e-12);
  EXPECT_GT(Cost(0.9)->error_share, 0.4 * Cost(0.9)->share);
  EXPECT_FALSE(Cost(0.9)->records_ended);
}

// A launch costs a share of the time between two, so that all of them cost no more than that share.
TEST_F(PresenceCostTest, IsAShareOfTheTimeBetweenLaunches) {
  process_.status.set_records_state(RECORDS_IN_WINDOWS);
  EXPECT_NEAR(Cost(0.9)->share, 0.9 * kHookShareOfTracedLaunch * kTracedShareOfLaunch, 1e-5);
  process_.status.set_operations_in_gaps(1000);
  EXPECT_NEAR(Cost(0.9)->share, 1000e-10 * kHookShareOfTracedLaunch * kMostTracedLaunchNs, 1e-12);
}

TEST_F(PresenceCostTest, IsFeltAsFarAsTheGpuWaits) {
  process_.status.set_records_state(RECORDS_IN_WINDOWS);
  process_.status.set_operations_in_gaps(18'000'000);  // each costs the least
  EXPECT_NEAR(Cost(0.15)->share, Cost(0.9)->share / 2, 1e-12);
  EXPECT_EQ(Cost(0)->share, 0);
  EXPECT_EQ(Cost(-0.1)->share, 0) << "kernels that overlap";
}

TEST_F(PresenceCostTest, RecordsThatEndedCostLittleAndSayWhatWindowsWouldHave) {
  process_.status.set_records_state(RECORDS_ENDED);
  process_.status.set_operations_in_gaps(0);
  const auto cost = Cost(0.9);
  ASSERT_TRUE(cost.has_value());
  EXPECT_TRUE(cost->records_ended);
  EXPECT_EQ(cost->recorded_ns, double{kSecondNs});
  const double traced_share = 20'000e-9 * kTracedLaunchNs;
  EXPECT_NEAR(cost->later_windows_share, kHookShareOfTracedLaunch * traced_share, 1e-12);
  EXPECT_NEAR(cost->share, 0.9 * kUnhookedShareOfTracedLaunch * traced_share, 1e-12);
}

TEST_F(PresenceCostTest, WhatWasRecordedThroughoutHasNone) {
  process_.status.set_records_state(RECORDS_FROM_START);
  EXPECT_FALSE(Cost(0.9).has_value());
  process_.status.set_records_state(RECORDS_IN_WINDOWS);
  process_.has_status = false;
  EXPECT_FALSE(Cost(0.9).has_value());
}

TEST_F(PresenceCostTest, OlderAgentsLeftTheHookInWhereTheyHadWindows) {
  EXPECT_FALSE(Cost(0.9).has_value());
  for (uint64_t second = 0; second < 2; ++second) {
    TraceWindow window;
    window.set_flags(kTraceKernels);
    window.set_start_ns(kRunStartNs + second * kSecondNs);
    window.set_end_ns(kRunStartNs + second * kSecondNs + 1000);
    process_.windows.Add(window);
  }
  ASSERT_TRUE(Cost(0.9).has_value());
  EXPECT_GT(Cost(0.9)->share, 0);
}

}  // namespace
}  // namespace utlz
