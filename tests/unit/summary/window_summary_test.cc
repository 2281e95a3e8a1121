#include "collector/summary/window_summary.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>

#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

// Two devices with a kernel each: from 10 to 20 ms, and from 30 to 60 ms after the run's start.
class WindowSummaryTest : public testing::Test {
 protected:
  WindowSummaryTest() {
    model_.run_start.emplace();
    model_.run_start->set_time_ns(kRunStartNs);
    for (const auto& [fill, start_ms, end_ms] : {std::tuple{'A', 10u, 20u}, {'B', 30u, 60u}}) {
      const uint32_t index = *model_.devices.Find(RunBuilder::Uuid(fill));
      DeviceState& device = model_.devices[index];
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

  WindowSummary Summarized() const {
    Summary summary;
    SummarizeWindow(model_, analysis_, &summary);
    return summary.window();
  }

  ModelState model_;
  Analysis analysis_;
};

TEST_F(WindowSummaryTest, IsFromTheFirstToTheLastActivityOfAnyDevice) {
  const WindowSummary window = Summarized();
  EXPECT_EQ(window.of(), "run");
  EXPECT_NEAR(window.start_ns(), 10e6, 1);
  EXPECT_NEAR(window.end_ns(), 60e6, 1);
  EXPECT_NEAR(window.time_ns(), 30e6, 1) << "devices work side by side";
  std::swap(analysis_.devices[0], analysis_.devices[1]);
  EXPECT_NEAR(Summarized().time_ns(), 30e6, 1);
}

TEST_F(WindowSummaryTest, DevicesThatDidNothingAreLeftOut) {
  model_.devices.Find(RunBuilder::Uuid('C'));
  analysis_.devices.emplace_back();
  model_.devices[2].used = true;  // nothing ran
  EXPECT_NEAR(Summarized().start_ns(), 10e6, 1);
  model_.devices[1].used = false;
  EXPECT_NEAR(Summarized().end_ns(), 20e6, 1);
  model_.devices[0].used = false;
  EXPECT_FALSE(Summarized().has_of());
}

TEST_F(WindowSummaryTest, OfStepsIsOfTheDeviceWhoseStepsTheyAre) {
  analysis_.steady.steps = StepsSpan{.start_ns = kRunStartNs + 12 * kMillisecond,
                                     .end_ns = kRunStartNs + 18 * kMillisecond,
                                     .usual_step_ns = 1e6,
                                     .device = 0};
  analysis_.devices[0].part.pause_ns = 2e6;
  analysis_.devices[0].part.pauses = 2.6;
  const WindowSummary window = Summarized();
  EXPECT_EQ(window.of(), "steps");
  EXPECT_NEAR(window.start_ns(), 12e6, 1);
  EXPECT_NEAR(window.end_ns(), 18e6, 1);
  EXPECT_NEAR(window.time_ns(), 10e6, 1);
  EXPECT_EQ(window.pauses(), 3u);
  EXPECT_EQ(window.pause_time_ns(), 2e6);
}

TEST_F(WindowSummaryTest, WhereItLiesInTheRunIsSaidWhereThatIsKnown) {
  model_.run_start->set_time_ns(kRunStartNs + 11 * kMillisecond);
  EXPECT_FALSE(Summarized().has_start_ns()) << "it cannot have begun before the run";
  model_.run_start.reset();
  EXPECT_FALSE(Summarized().has_end_ns());
  EXPECT_NEAR(Summarized().time_ns(), 30e6, 1);
}

TEST_F(WindowSummaryTest, SharesArePutPerMeanStepOfTheWindow) {
  Summary summary;
  summary.mutable_steps()->set_time_mean_ns(5);
  summary.mutable_steps()->set_time_p50_ns(4);
  EXPECT_EQ(MeanStepNs(summary), 0) << "not of steps";
  summary.mutable_window()->set_of("steps");
  EXPECT_EQ(MeanStepNs(summary), 5);
}

}  // namespace
}  // namespace utlz
