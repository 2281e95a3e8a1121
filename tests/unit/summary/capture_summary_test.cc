// What a summary says of the price of its own making.
#include "collector/summary/capture_summary.h"

#include <gtest/gtest.h>

#include "collector/analysis/measured_cost.h"
#include "collector/gpu_uuid.h"
#include "collector/summary/ladder.h"
#include "proto/ring_abi.h"
#include "tests/support/made_up_windows.h"

namespace utlz {
namespace {

// Two devices of which 10 ms each are told, and a process whose records cost 1 ms.
class CaptureSummaryTest : public testing::Test {
 protected:
  CaptureSummaryTest() {
    for (const char fill : {'A', 'B'}) {
      state_.devices[*state_.devices.Find(RunBuilder::Uuid(fill))].used = true;
      analysis_.devices.emplace_back().part.content.time_ns[0] = 10e6;
    }
    process_.has_status = true;
    process_.status.set_tracing_cost_ns(1'000'000);
    process_.strings = {"", "a"};
    process_.variants.resize(1);
    process_.variants[0].name = 1;
  }

  void RunKernelOf(uint32_t source, uint32_t device) {
    state_.kernels[state_.kernels.Find(&process_, 0, device)].ShareOf(source);
  }

  CaptureSummary Summarized() const {
    Summary summary;
    SummarizeCapture(state_, analysis_, &summary);
    return summary.capture();
  }

  RunState state_;
  Analysis analysis_;
  ProcessState& process_ = *state_.processes.Get(1);
};

TEST_F(CaptureSummaryTest, WhatTracingAddsIsEstimatedWhereItIsNotMeasured) {
  EXPECT_NEAR(Summarized().steady_state_slowdown_share(), 0.05, 1e-9);
  for (DeviceAnalysis& device : analysis_.devices) device.part.kernel_share = 0.2;
  EXPECT_NEAR(Summarized().steady_state_slowdown_share(), 0.01, 1e-9)
      << "of the kernels that the window holds";
  process_.status.set_tracing_cost_ns(1'000'000'000'000);
  EXPECT_EQ(Summarized().steady_state_slowdown_share(), 1)
      << "an estimate takes no more than there is";
  process_.has_status = false;
  EXPECT_FALSE(Summarized().has_steady_state_slowdown_share());
}

// A process that lies about its own cannot hide what others lost.
TEST_F(CaptureSummaryTest, LostLaunchesOfProcessesAddUpToTheLargestNumberAtMost) {
  Summary summary;
  summary.add_processes()->set_launches_dropped(1000);
  summary.add_processes()->set_launches_dropped(UINT64_MAX - 500);
  SummarizeCapture(state_, analysis_, &summary);
  EXPECT_EQ(summary.capture().launches_dropped(), UINT64_MAX);
}

// Another client took the buffers over before the first records came, and kept them.
TEST_F(CaptureSummaryTest, NothingOfAProcessTracedIsAShareToo) {
  EXPECT_FALSE(Summarized().has_coverage_share()) << "unknown";
  TraceWindow window;
  window.set_flags(kTraceKernels);
  for (const uint64_t time_ns : {kRunStartNs, kRunStartNs + 1000 * kMillisecond}) {
    EXPECT_FALSE(Summarized().has_coverage_share()) << "no time has passed";
    window.set_start_ns(time_ns);
    window.set_end_ns(time_ns);
    process_.coverage.Add(window);
  }
  ASSERT_TRUE(Summarized().has_coverage_share());
  EXPECT_EQ(Summarized().coverage_share(), 0);
}

// A long start-up makes tracing look cheap.
TEST_F(CaptureSummaryTest, TheCostOfTheStepsIsSaidBesideThatOfTheRun) {
  process_.info.set_start_time_ns(kRunStartNs);
  state_.run_start.emplace();
  state_.run_start->set_time_ns(kRunStartNs);
  state_.run_start->set_overhead_budget_ppm(10'000);
  state_.run_end.emplace();
  state_.run_end->set_time_ns(kRunStartNs + 1000 * kMillisecond);
  Summary summary;
  SummarizeCapture(state_, analysis_, &summary);
  const SlowdownSummary& slowdown = summary.capture().slowdown();
  EXPECT_NEAR(slowdown.share(), 0.001, 1e-9);
  EXPECT_NEAR(slowdown.steps_share(), 0.05, 1e-9);
  EXPECT_FALSE(slowdown.over_budget()) << "the interval reaches below the budget";
  SummarizeLadder(state_, analysis_, &summary);
  EXPECT_NE(
      summary.trust().find("estimated slowdown 0.1 % ± 0.1 % of the run, 5.0 % ± 5.0 % of the "
                           "steps (perhaps over the budget of 1.0 %)"),
      std::string::npos)
      << summary.trust();
}

// A GPU that waits for its host hides nothing of the cost, so the interval is narrower.
TEST_F(CaptureSummaryTest, OnlyAWholeIntervalAboveTheBudgetIsOverIt) {
  process_.info.set_start_time_ns(kRunStartNs);
  process_.device_by_ordinal[0] = 0;
  state_.run_start.emplace();
  state_.run_start->set_time_ns(kRunStartNs);
  state_.run_end.emplace();
  state_.run_end->set_time_ns(kRunStartNs + 1000 * kMillisecond);
  for (const bool over : {true, false}) {
    state_.run_start->set_overhead_budget_ppm(over ? 10'000 : 30'000);
    const SlowdownSummary slowdown = Summarized().slowdown();
    EXPECT_NEAR(slowdown.steps_share(), 0.05, 1e-9);
    EXPECT_NEAR(slowdown.steps_error_share(), 0.03, 1e-9);
    EXPECT_EQ(slowdown.over_budget(), over);
  }
}

// 10 ms of 100 ms of steps were traced, by which these took 5 % longer.
TEST_F(CaptureSummaryTest, StepsThatWereNotTracedWereNotSlowedByTracing) {
  state_.run_start.emplace();
  state_.run_start->set_time_ns(kRunStartNs);
  state_.run_end.emplace();
  state_.run_end->set_time_ns(kRunStartNs + 1000 * kMillisecond);
  process_.info.set_start_time_ns(kRunStartNs);
  analysis_.steady.steps.emplace();
  StepsSpan& steps = *analysis_.steady.steps;
  steps.start_ns = kRunStartNs + 500 * kMillisecond;
  steps.end_ns = steps.start_ns + 40 * kMillisecond;
  steps.after_ns = 60e6;
  EXPECT_NEAR(Summarized().slowdown().steps_share(), 0.005, 1e-9);
  EXPECT_NEAR(Summarized().slowdown().steps_error_share(), 0.005, 1e-9);
  EXPECT_NEAR(Summarized().steady_state_slowdown_share(), 0.05, 1e-9) << "of the traced ones";
}

TEST_F(CaptureSummaryTest, ClocksAroundItsWorkAreThoseOfTheDevice) {
  DeviceTotalsBatch batch;
  for (uint64_t i = 1; i <= 9; ++i) {
    batch.add_time_ns(i * 200'000'000);
    batch.add_sm_clock_mhz(i <= 3 ? 345 : i <= 6 ? 1800 : 1980);
    batch.add_gpm_sm_active_percent(i <= 3 || i > 6 ? 0 : 40);
  }
  ASSERT_TRUE(state_.devices[1].totals.Add(batch));
  Summary summary;
  for (const char fill : {'A', 'B'}) {
    summary.add_devices()->set_uuid(FormatGpuUuid(RunBuilder::Uuid(fill)));
  }
  SummarizeCapture(state_, analysis_, &summary);
  EXPECT_FALSE(summary.devices(0).has_sm_clock_before_hz());
  EXPECT_FALSE(summary.devices(0).has_sm_clock_after_hz());
  EXPECT_NEAR(summary.devices(1).sm_clock_before_hz(), 345e6, 1);
  EXPECT_NEAR(summary.devices(1).sm_clock_after_hz(), 1.98e9, 1);
}

TEST_F(CaptureSummaryTest, WhatWasTakenOutIsNotEstimated) {
  process_.windows = WindowsOf(16'000, 17'000, 60, 0.01, true);
  RunKernelOf(1, 0);
  analysis_.devices[0].part.slowdown_ns = 1e6;
  const CaptureSummary capture = Summarized();
  const MeasuredCost cost = *MeasureCost(state_);
  EXPECT_DOUBLE_EQ(capture.measured_cost_share(), cost.share);
  EXPECT_NEAR(capture.measured_cost_error_share(), 1.96 * cost.standard_error,
              1e-4 * cost.standard_error);
  EXPECT_EQ(capture.measured_cost_windows(), cost.windows);
  EXPECT_FALSE(capture.has_steady_state_slowdown_share());
}

TEST_F(CaptureSummaryTest, AnEstimateIsNoMoreThanWasMeasured) {
  process_.windows = WindowsOf(16'000, 16'100, 60, 0.01, true);
  RunKernelOf(1, 0);
  const MeasuredCost cost = *MeasureCostOn(state_, 0);
  const double most = cost.window_share + 1.96 * cost.window_standard_error;
  ASSERT_LT(most, 0.02);
  EXPECT_NEAR(Summarized().steady_state_slowdown_share(), most, 1e-5);
  process_.windows = WindowsOf(17'000, 16'000, 60, 0.01, true);
  EXPECT_EQ(Summarized().steady_state_slowdown_share(), 0) << "windows were faster";
}

// Which of their gaps tracing lengthened is not known, so nothing is taken out of them.
TEST_F(CaptureSummaryTest, OfSeveralProcessesOnAGpuItIsEstimatedAllTheSame) {
  process_.windows = WindowsOf(16'000, 17'000, 60, 0.01, true);
  RunKernelOf(1, 0);
  RunKernelOf(2, 0);
  EXPECT_TRUE(Summarized().has_measured_cost_share());
  EXPECT_NEAR(Summarized().steady_state_slowdown_share(), 0.05, 1e-9);
}

}  // namespace
}  // namespace utlz
