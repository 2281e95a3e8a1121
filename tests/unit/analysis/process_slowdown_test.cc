#include "collector/analysis/process_slowdown.h"

#include <gtest/gtest.h>

#include "collector/analysis/measured_cost.h"
#include "proto/ring_abi.h"
#include "proto/tracing_cost.h"
#include "tests/support/made_up_windows.h"

namespace utlz {
namespace {

constexpr uint64_t kStartNs = 1'000'000'000;
constexpr double kLivedNs = 10e9;

// A process that lived for ten seconds on one GPU, and whose records cost the driver 40 ms.
class ProcessSlowdownTest : public testing::Test {
 protected:
  ProcessSlowdownTest() : process_(*state_.processes.Get(1)) {
    state_.devices[*state_.devices.Find(RunBuilder::Uuid())].used = true;
    process_.device_by_ordinal[0] = 0;
    process_.info.set_start_time_ns(kStartNs);
    process_.has_status = true;
    process_.status.set_tracing_cost_ns(40'000'000);
    process_.end.emplace();
    process_.end->set_time_ns(kStartNs + static_cast<uint64_t>(kLivedNs));
    state_.run_end.emplace();
    state_.run_end->set_time_ns(process_.end->time_ns());
    analysis_.devices.emplace_back().part.content.time_ns[0] = kLivedNs;
  }

  ProcessSlowdown Found() { return *SlowdownOfProcess(state_, analysis_, process_); }
  void IsBusy() {
    auto& content = analysis_.devices[0].part.content;
    content = {};
    content.time_ns[static_cast<size_t>(TimeCategory::kCompute)] = kLivedNs;
  }

  RunState state_;
  Analysis analysis_;
  ProcessState& process_;
};

TEST_F(ProcessSlowdownTest, IsOfAllParts) {
  process_.status.set_start_delay_ns(20'000'000);
  process_.status.set_end_delay_ns(30'000'000);
  process_.status.set_records_state(RECORDS_IN_WINDOWS);
  process_.status.set_operations_in_gaps(100'000);
  state_.devices[0].status.emplace();
  state_.devices[0].status->set_sampling_ns(2'000'000'000);
  const ProcessSlowdown slowdown = Found();
  EXPECT_FALSE(slowdown.measured);
  EXPECT_NEAR(slowdown.tracing.share, 0.004, 1e-12);
  EXPECT_NEAR(slowdown.sampling.share, kSamplingSlowdown * 0.2, 1e-12);
  EXPECT_NEAR(slowdown.presence.share, kHookShareOfTracedLaunch * kTracedShareOfLaunch, 1e-9);
  EXPECT_NEAR(slowdown.start_and_end_share, 0.005, 1e-12);
  EXPECT_NEAR(slowdown.InAll().share,
              slowdown.tracing.share + slowdown.sampling.share + slowdown.presence.share + 0.005,
              1e-12);
  EXPECT_NEAR(
      slowdown.InAll().error_share,
      slowdown.tracing.error_share + slowdown.sampling.error_share + slowdown.presence.error_share,
      1e-12);
}

// A GPU that never waits hides what tracing takes of the host, and nobody knows how much of it.
TEST_F(ProcessSlowdownTest, AnEstimateReachesDownToNothingWhereTheGpuIsBusy) {
  const SlowdownPart waiting = Found().tracing;
  EXPECT_GT(waiting.error_share, 0.3 * waiting.share);
  EXPECT_LT(waiting.error_share, 0.9 * waiting.share);
  IsBusy();
  const SlowdownPart hidden = Found().tracing;
  EXPECT_DOUBLE_EQ(hidden.share, waiting.share);
  EXPECT_DOUBLE_EQ(hidden.error_share, hidden.share);
}

TEST_F(ProcessSlowdownTest, IsMeasuredWhereWindowsTellMore) {
  process_.windows = WindowsOf(16'000, 17'000, 60, 0.001, true);
  state_.devices[0].status.emplace();
  state_.devices[0].status->set_sampling_ns(2'000'000'000);
  const MeasuredCost cost = *MeasureCost(process_.windows);
  const ProcessSlowdown slowdown = Found();
  EXPECT_TRUE(slowdown.measured);
  EXPECT_DOUBLE_EQ(slowdown.tracing.share, cost.share);
  EXPECT_LT(slowdown.tracing.error_share, 0.002);
  EXPECT_EQ(slowdown.sampling.share, 0) << "windows are sampled too";
}

// Windows that are compared with the gaps beside them do not tell what costs in both.
TEST_F(ProcessSlowdownTest, WhatSetCountersCostIsAddedToWhatIsMeasured) {
  process_.windows = WindowsOf(16'000, 17'000, 60, 0.001, true);
  state_.devices[0].status.emplace();
  state_.devices[0].status->set_sampling_ns(2'000'000'000);
  state_.devices[0].status->set_set_counters_cost_ns(120'000'000);
  const ProcessSlowdown slowdown = Found();
  EXPECT_TRUE(slowdown.measured);
  EXPECT_DOUBLE_EQ(slowdown.tracing.share, MeasureCost(process_.windows)->share);
  EXPECT_NEAR(slowdown.sampling.share, 0.012, 1e-12);
  EXPECT_GT(slowdown.sampling.error_share, 0.003);
  EXPECT_LT(slowdown.sampling.error_share, 0.012);
  state_.devices[0].status->set_set_counters_cost_ns(0);
  EXPECT_EQ(Found().sampling.share, 0) << "power did not limit the clock";
}

TEST_F(ProcessSlowdownTest, SetCountersCostNoMoreThanAllOfTheTime) {
  state_.devices[0].status.emplace();
  state_.devices[0].status->set_set_counters_cost_ns(~uint64_t{0});
  EXPECT_EQ(Found().sampling.share, 1);
  EXPECT_EQ(Found().sampling.error_share, 1);
}

TEST_F(ProcessSlowdownTest, IsEstimatedWhereWindowsDifferTooMuch) {
  process_.windows = WindowsOf(16'000, 16'100, 8, 0.2, true);
  ASSERT_TRUE(MeasureCost(process_.windows).has_value());
  EXPECT_FALSE(Found().measured);
  EXPECT_NEAR(Found().tracing.share, 0.004, 1e-12);
}

// It is compared with nothing: what its records cost stays an estimate.
TEST_F(ProcessSlowdownTest, TheFirstWindowIsAddedToWhatWasMeasured) {
  process_.windows = WindowsOf(16'000, 17'000, 60, 0.001, true);
  const double measured = Found().tracing.share;
  process_.status.set_operations_recorded(4 * process_.windows[0].recorded);
  EXPECT_NEAR(Found().tracing.share, measured + 0.004 / 4, 1e-9);
}

TEST_F(ProcessSlowdownTest, OfARunTheLargestCounts) {
  ProcessState& other = *state_.processes.Get(2);
  other.has_status = true;
  other.info.set_start_time_ns(kStartNs);
  other.status.set_tracing_cost_ns(90'000'000);
  EXPECT_NEAR(LargestSlowdown(state_, analysis_)->InAll().share, 0.009, 1e-12);
  other.has_status = false;
  EXPECT_NEAR(LargestSlowdown(state_, analysis_)->InAll().share, 0.004, 1e-12);
  process_.has_status = false;
  EXPECT_FALSE(LargestSlowdown(state_, analysis_).has_value()) << "no agent said anything";
}

TEST_F(ProcessSlowdownTest, DelaysThatCannotBeTakeNoMoreThanTheLife) {
  process_.status.set_start_delay_ns(~uint64_t{0});
  process_.status.set_end_delay_ns(~uint64_t{0});
  EXPECT_EQ(Found().start_and_end_share, 1);
}

}  // namespace
}  // namespace utlz
