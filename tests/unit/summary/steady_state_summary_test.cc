#include "collector/summary/steady_state_summary.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>

#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

// Two devices with a kernel each: from 10 to 20 ms, and from 30 to 60 ms after the run's start.
class SteadyStateSummaryTest : public testing::Test {
 protected:
  SteadyStateSummaryTest() {
    state_.run_start.emplace();
    state_.run_start->set_time_ns(kRunStartNs);
    for (const auto& [fill, start_ms, end_ms] : {std::tuple{'A', 10u, 20u}, {'B', 30u, 60u}}) {
      const uint32_t index = *state_.devices.Find(RunBuilder::Uuid(fill));
      DeviceState& device = state_.devices[index];
      device.used = true;
      device.sweep.Add({.start_ns = kRunStartNs + start_ms * kMillisecond,
                        .end_ns = kRunStartNs + end_ms * kMillisecond,
                        .kernel = 0,
                        .stream = 0,
                        .context = 0,
                        .source = 1,
                        .kind = ActivityKind::kCompute});
      device.sweep.AdvanceTo(kRunStartNs + 100 * kMillisecond);
      analysis_.devices.emplace_back().part.content.time_ns[0] = (end_ms - start_ms) * 1e6;
    }
  }

  SteadyStateSummary Summarized() const {
    Summary summary;
    SummarizeSteadyState(state_, analysis_, &summary);
    return summary.steady_state();
  }

  RunState state_;
  Analysis analysis_;
};

TEST_F(SteadyStateSummaryTest, IsFromTheFirstToTheLastActivityOfAnyDevice) {
  const SteadyStateSummary window = Summarized();
  EXPECT_EQ(window.scope(), "run");
  EXPECT_NEAR(window.start_ns(), 10e6, 1);
  EXPECT_NEAR(window.end_ns(), 60e6, 1);
  EXPECT_NEAR(window.time_ns(), 30e6, 1) << "devices work side by side";
  std::swap(analysis_.devices[0], analysis_.devices[1]);
  EXPECT_NEAR(Summarized().time_ns(), 30e6, 1);
}

TEST_F(SteadyStateSummaryTest, DevicesThatDidNothingAreLeftOut) {
  state_.devices.Find(RunBuilder::Uuid('C'));
  analysis_.devices.emplace_back();
  state_.devices[2].used = true;  // nothing ran
  EXPECT_NEAR(Summarized().start_ns(), 10e6, 1);
  state_.devices[1].used = false;
  EXPECT_NEAR(Summarized().end_ns(), 20e6, 1);
  state_.devices[0].used = false;
  EXPECT_FALSE(Summarized().has_scope());
}

TEST_F(SteadyStateSummaryTest, OfStepsIsOfTheDeviceWhoseStepsTheyAre) {
  analysis_.steady.steps = StepsSpan{.start_ns = kRunStartNs + 12 * kMillisecond,
                                     .end_ns = kRunStartNs + 18 * kMillisecond,
                                     .usual_step_ns = 1e6,
                                     .device = 0};
  analysis_.devices[0].part.pause_ns = 2e6;
  analysis_.devices[0].part.pauses = 2.6;
  const SteadyStateSummary window = Summarized();
  EXPECT_EQ(window.scope(), "steps");
  EXPECT_NEAR(window.start_ns(), 12e6, 1);
  EXPECT_NEAR(window.end_ns(), 18e6, 1);
  EXPECT_NEAR(window.time_ns(), 10e6, 1);
  EXPECT_EQ(window.pauses(), 3u);
  EXPECT_EQ(window.pause_time_ns(), 2e6);
}

TEST_F(SteadyStateSummaryTest, WhereItLiesInTheRunIsSaidWhereThatIsKnown) {
  state_.run_start->set_time_ns(kRunStartNs + 11 * kMillisecond);
  EXPECT_FALSE(Summarized().has_start_ns()) << "it cannot have begun before the run";
  state_.run_start.reset();
  EXPECT_FALSE(Summarized().has_end_ns());
  EXPECT_NEAR(Summarized().time_ns(), 30e6, 1);
}

TEST_F(SteadyStateSummaryTest, SharesArePutPerMeanStepOfTheWindow) {
  Summary summary;
  summary.mutable_steps()->set_time_mean_ns(5);
  summary.mutable_steps()->set_time_p50_ns(4);
  EXPECT_EQ(MeanStepNs(summary), 0) << "not of steps";
  summary.mutable_steady_state()->set_scope("steps");
  EXPECT_EQ(MeanStepNs(summary), 5);
}

}  // namespace
}  // namespace utlz
