// A program that tracing slows down is told as it is untraced.
#include "collector/analysis/traced_slowdown.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "collector/analysis/measured_cost.h"
#include "collector/waterfall_slices.h"
#include "proto/ring_abi.h"
#include "proto/tracing_cost.h"
#include "tests/support/made_up_loads.h"
#include "tests/support/made_up_windows.h"

namespace utlz {
namespace {

constexpr uint64_t kStepsOfAWindow = 20;
constexpr uint64_t kStepsOfAGap = 600;
constexpr uint64_t kKernels = 5;

// Steps of five kernels of 100 µs each, after which the GPU waits: for 300 µs, and in windows as
// much longer as the test says.
class WindowedProgram {
 public:
  explicit WindowedProgram(double slowdown_ns) : slowdown_ns_(slowdown_ns) {
    run_.StartRun();
    run_.StartProcess();
    run_.SendKernels({"a", "b", "c", "d", "e"});
  }

  void Window(bool with_gap = true) {
    Tell();
    TraceWindow window;
    window.set_flags(kTraceKernels);
    window.set_start_ns(kRunStartNs + now_ns_);
    run_.Send(1, FRAME_TRACE_WINDOW, window);
    for (uint64_t i = 0; i < kStepsOfAWindow; ++i) TracedStep();
    window.set_end_ns(kRunStartNs + now_ns_);
    run_.Send(1, FRAME_TRACE_WINDOW, window);
    Tell();
    for (uint64_t i = 0; with_gap && i < kStepsOfAGap; ++i) UntracedStep();
  }

  void SayCost(uint64_t set_counters_cost_ns) {
    SamplerStatus status;
    status.set_device_uuid(RunBuilder::Uuid());
    status.set_set_counters_cost_ns(set_counters_cost_ns);
    run_.Send(0, FRAME_SAMPLER_STATUS, status);
  }

  Summary End() { return run_.EndRun(now_ns_); }

 private:
  uint64_t IdleNs(double more_ns) {
    return static_cast<uint64_t>(std::abs(300e3 * noise_(random_)) + more_ns);
  }

  void TracedStep() {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < kKernels; ++i) {
      launches.push_back(RunBuilder::LaunchAt(now_ns_, 100 * kMicrosecond, i));
      now_ns_ += 100 * kMicrosecond;
    }
    run_.SendLaunches(launches);
    now_ns_ += IdleNs(slowdown_ns_);
    recorded_ += kKernels;
    numbered_ += kKernels;
    newest_recorded_ = numbered_;
  }

  void UntracedStep() {
    now_ns_ += 500 * kMicrosecond + IdleNs(0);
    numbered_ += kKernels;
  }

  void Tell() {
    AgentStatus status;
    status.set_time_ns(kRunStartNs + now_ns_);
    status.set_launches_recorded(recorded_);
    status.set_operations_recorded(recorded_);
    status.set_operations_numbered(newest_recorded_);
    run_.Send(1, FRAME_AGENT_STATUS, status);
  }

  RunBuilder run_;
  double slowdown_ns_;
  std::mt19937 random_{7};
  std::normal_distribution<double> noise_{1, 0.1};
  uint64_t now_ns_ = kMillisecond;
  uint64_t recorded_ = 0;
  uint64_t numbered_ = 0;
  uint64_t newest_recorded_ = 0;
};

Summary SummaryOf(double slowdown_ns, int windows) {
  WindowedProgram program(slowdown_ns);
  for (int i = 0; i < windows; ++i) program.Window(i + 1 < windows);
  return program.End();
}

TEST(TracedSlowdownTest, StepsAndSharesAreThoseOfTheUntracedProgram) {
  const Summary summary = SummaryOf(200e3, 12);
  EXPECT_EQ(summary.steady_state().scope(), "steps");
  EXPECT_NEAR(summary.steps().time_mean_ns(), 800e3, 20e3);
  EXPECT_NEAR(summary.steps().time_p50_ns(), 800e3, 20e3);
  EXPECT_NEAR(summary.steps().idle_time_ns(), 300e3, 20e3);
  EXPECT_NEAR(summary.steps().slowdown_time_ns(), 200e3,
              3 * summary.steps().slowdown_error_ns() + 2e3);
  EXPECT_GT(summary.steps().time_ns(1), 900e3) << "listed ones are as they were traced";
  EXPECT_NEAR(summary.devices(0).gpu_busy_share(), 5.0 / 8, 0.02);
  EXPECT_NEAR(summary.devices(0).run_gpu_busy_share(), 5.0 / 8, 0.02);
  EXPECT_GT(SliceShare(summary, kSliceSlowdown), 0);
  EXPECT_FALSE(summary.capture().has_steady_state_slowdown_share()) << "it has been taken out";
  EXPECT_NEAR(summary.steady_state().slowdown_time_ns() / summary.steady_state().time_ns(),
              summary.steps().slowdown_time_ns() / summary.steps().time_mean_ns(), 1e-3);
  EXPECT_GT(summary.steady_state().slowdown_error_ns(), 0);
  ExpectSlicesSumToTheWhole(summary);
}

TEST(TracedSlowdownTest, IsNotMadeUpWhereTracingCostsNothing) {
  const Summary summary = SummaryOf(0, 12);
  EXPECT_FALSE(summary.steps().has_slowdown_time_ns());
  EXPECT_FALSE(summary.steady_state().has_slowdown_time_ns());
  EXPECT_EQ(SliceShare(summary, kSliceSlowdown), 0);
  EXPECT_NEAR(summary.steps().time_mean_ns(), 800e3, 20e3);
  ExpectSlicesSumToTheWhole(summary);
}

// It was measured, but not well enough to tell it from nothing: then records cost what they do.
TEST(TracedSlowdownTest, WhatIsNotTakenOutIsAnEstimate) {
  const Summary summary = SummaryOf(0, 12);
  ASSERT_TRUE(summary.capture().has_measured_cost_share());
  ASSERT_TRUE(summary.capture().has_steady_state_slowdown_share());
  const double step_cost_ns = kKernels * static_cast<double>(kTracedLaunchNs);
  EXPECT_LE(summary.capture().steady_state_slowdown_share(), 1.2 * step_cost_ns / 800e3);
}

TEST(TracedSlowdownTest, OfTooFewWindowsItIsAnEstimate) {
  const Summary summary = SummaryOf(200e3, 4);
  EXPECT_FALSE(summary.steps().has_slowdown_time_ns());
  EXPECT_GT(summary.steps().time_mean_ns(), 900e3);
  const double step_cost_ns = kKernels * static_cast<double>(kTracedLaunchNs);
  EXPECT_NEAR(summary.capture().steady_state_slowdown_share(), step_cost_ns / 1e6,
              0.2 * step_cost_ns / 1e6);
}

TEST(TracedSlowdownTest, AllStepsPayForCountersThatAreSet) {
  const auto summary_of = [](uint64_t cost_ns) {
    WindowedProgram program(0);
    for (int i = 0; i < 4; ++i) program.Window(i < 3);
    program.SayCost(cost_ns);
    return program.End();
  };
  const Summary free = summary_of(0);
  const Summary paid = summary_of(20'000'000);
  ASSERT_TRUE(free.capture().slowdown().has_steps_share());
  // Three gaps and four windows.
  const double steps_ns = (3 * kStepsOfAGap + 4 * kStepsOfAWindow) * 800e3;
  const double share =
      paid.capture().slowdown().steps_share() - free.capture().slowdown().steps_share();
  EXPECT_NEAR(share, 20e6 / steps_ns, 0.1 * 20e6 / steps_ns);
  EXPECT_GT(paid.capture().slowdown().steps_error_share(),
            free.capture().slowdown().steps_error_share());
}

// A device on which one process works whose windows were measured.
class TakeSlowdownOutTest : public testing::Test {
 protected:
  TakeSlowdownOutTest() {
    process_.strings = {"", "a"};
    process_.variants.resize(1);
    process_.variants[0].name = 1;
    state_.kernels[state_.kernels.Find(&process_, 0, 0)].ShareOf(1);
    SetTraced(17'000);
  }

  // Operations that take 16 µs each take so long in windows.
  void SetTraced(double traced_ns, double noise = 0.01) {
    process_.windows = WindowsOf(16'000, traced_ns, 60, noise, true);
  }

  static DevicePart PartOf(double launch_gaps_ns, double other_gaps_ns, double kernels_ns) {
    DevicePart part;
    part.content.time_ns[static_cast<size_t>(TimeCategory::kLaunchGap)] = launch_gaps_ns;
    part.content.time_ns[static_cast<size_t>(TimeCategory::kOtherGap)] = other_gaps_ns;
    part.content.time_ns[static_cast<size_t>(TimeCategory::kCompute)] = kernels_ns;
    return part;
  }

  DevicePart Less(DevicePart part, bool of_steps = true) const {
    TakeSlowdownOut(state_, 0, of_steps ? std::optional(StepsSpan()) : std::nullopt, &part);
    return part;
  }

  RunState state_;
  ProcessState& process_ = *state_.processes.Get(1);
};

TEST_F(TakeSlowdownOutTest, AllGapsBecomeShorterAlike) {
  const MeasuredCost cost = *MeasureCostOn(state_, 0);
  const DevicePart part = Less(PartOf(200e6, 100e6, 700e6));
  EXPECT_NEAR(part.slowdown_ns, cost.window_share * 1e9, 1);
  EXPECT_NEAR(part.slowdown_error_ns, cost.window_standard_error * 1e9, 1);
  EXPECT_NEAR(part.TimeNs(), 1e9 - part.slowdown_ns, 1);
  EXPECT_EQ(part.content.TimeNs(TimeCategory::kCompute), 700e6);
  EXPECT_NEAR(part.content.TimeNs(TimeCategory::kLaunchGap),
              2 * part.content.TimeNs(TimeCategory::kOtherGap), 1);
}

TEST_F(TakeSlowdownOutTest, NoMoreThanTheGapsCanBe) {
  const DevicePart part = Less(PartOf(1e6, 0, 999e6));
  EXPECT_EQ(part.slowdown_ns, 1e6);
  EXPECT_EQ(part.content.IdleNs(), 0);
  EXPECT_EQ(Less(PartOf(0, 0, 1e9)).slowdown_ns, 0);
}

TEST_F(TakeSlowdownOutTest, OfAWholeRunItIsOfTheWindowsThatWereCompared) {
  const MeasuredCost cost = *MeasureCostOn(state_, 0);
  const double run_ns = 2 * cost.window_ns;
  EXPECT_NEAR(Less(PartOf(run_ns / 2, 0, run_ns / 2), false).slowdown_ns,
              cost.window_share * cost.window_ns, 1);
  EXPECT_NEAR(Less(PartOf(run_ns / 2, 0, run_ns / 2), true).slowdown_ns, cost.window_share * run_ns,
              1);
  EXPECT_NEAR(Less(PartOf(200e6, 0, 800e6), false).slowdown_ns, cost.window_share * 1e9, 1)
      << "of which there are no more";
}

TEST_F(TakeSlowdownOutTest, WhatMayBeChanceStays) {
  bool taken = false, left = false;
  for (double traced_ns = 16'000; traced_ns < 17'000; traced_ns += 10) {
    SetTraced(traced_ns, 0.05);
    const MeasuredCost cost = *MeasureCostOn(state_, 0);
    const bool told = cost.window_share > 3 * cost.window_standard_error;
    EXPECT_EQ(Less(PartOf(200e6, 100e6, 700e6)).slowdown_ns > 0, told) << traced_ns;
    taken = taken || told;
    left = left || (!told && cost.window_share > 2.9 * cost.window_standard_error);
  }
  EXPECT_TRUE(taken && left);
}

TEST(TakeSlowdownOutOfStepsTest, EachStepIsShorterByItsShare) {
  Analysis analysis;
  analysis.steady.steps.emplace();
  DevicePart& part = analysis.devices.emplace_back().part;
  part.content.time_ns[0] = 8e6;
  part.slowdown_ns = 2e6;
  part.slowdown_error_ns = 0.4e6;
  Summary summary;
  StepsSummary* steps = summary.mutable_steps();
  steps->set_time_mean_ns(1e6);
  steps->set_time_p50_ns(0.9e6);
  steps->set_time_p99_ns(2e6);
  steps->set_idle_time_ns(0.1e6);
  TakeSlowdownOutOfSteps(analysis, &summary);
  EXPECT_NEAR(steps->slowdown_time_ns(), 0.2e6, 1);
  EXPECT_NEAR(steps->slowdown_error_ns(), 0.04e6, 1);
  EXPECT_NEAR(steps->time_mean_ns(), 0.8e6, 1);
  EXPECT_NEAR(steps->time_p50_ns(), 0.7e6, 1);
  EXPECT_NEAR(steps->time_p99_ns(), 1.8e6, 1);
  EXPECT_EQ(steps->idle_time_ns(), 0) << "never less";
}

}  // namespace
}  // namespace utlz
