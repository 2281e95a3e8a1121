#include "collector/text/slowdown_text.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

CaptureSummary Capture(double share, double error_share) {
  CaptureSummary capture;
  capture.mutable_slowdown()->set_share(share);
  capture.mutable_slowdown()->set_error_share(error_share);
  return capture;
}

TEST(SlowdownTextTest, HasItsErrorAndTheBudget) {
  CaptureSummary capture = Capture(0.008, 0.005);
  EXPECT_EQ(SlowdownText(capture), "estimated slowdown 0.8 % ± 0.5 %");
  capture.mutable_slowdown()->set_measured(true);
  capture.set_overhead_budget_share(0.01);
  EXPECT_EQ(SlowdownText(capture), "measured slowdown 0.8 % ± 0.5 % (budget 1.0 %)");
}

TEST(SlowdownTextTest, OfStepsThatWereSlowedMoreIsSaidToo) {
  CaptureSummary capture = Capture(0.008, 0.005);
  capture.set_overhead_budget_share(0.01);
  capture.mutable_slowdown()->set_steps_share(0.035);
  capture.mutable_slowdown()->set_steps_error_share(0.02);
  EXPECT_EQ(SlowdownText(capture),
            "estimated slowdown 0.8 % ± 0.5 % of the run, 3.5 % ± 2.0 % of the steps (over the "
            "budget of 1.0 %)");
  capture.mutable_slowdown()->set_steps_share(0.001);
  EXPECT_EQ(SlowdownText(capture), "estimated slowdown 0.8 % ± 0.5 % (budget 1.0 %)");
}

TEST(SlowdownTextTest, AnIntervalThatReachesBelowTheBudgetIsPerhapsOverIt) {
  CaptureSummary capture = Capture(0.011, 0.005);
  EXPECT_EQ(JudgeByBudget(capture), BudgetVerdict::kWithin) << "without a budget";
  capture.set_overhead_budget_share(0.01);
  EXPECT_EQ(SlowdownText(capture),
            "estimated slowdown 1.1 % ± 0.5 % (perhaps over the budget of 1.0 %)");
  capture.mutable_slowdown()->set_error_share(0.0005);
  EXPECT_EQ(SlowdownText(capture), "estimated slowdown 1.1 % ± 0.1 % (over the budget of 1.0 %)");
  capture.mutable_slowdown()->set_share(0.009);
  EXPECT_EQ(JudgeByBudget(capture), BudgetVerdict::kWithin);
}

TEST(SlowdownTextTest, StepsThatAloneAreSurelyOverTheBudgetAreSaidToo) {
  CaptureSummary capture = Capture(0.02, 0.015);
  capture.set_overhead_budget_share(0.01);
  capture.mutable_slowdown()->set_steps_share(0.019);
  capture.mutable_slowdown()->set_steps_error_share(0.002);
  EXPECT_EQ(SlowdownText(capture),
            "estimated slowdown 2.0 % ± 1.5 % of the run, 1.9 % ± 0.2 % of the steps (over the "
            "budget of 1.0 %)");
  capture.mutable_slowdown()->set_steps_error_share(0.015);
  EXPECT_EQ(SlowdownText(capture),
            "estimated slowdown 2.0 % ± 1.5 % (perhaps over the budget of 1.0 %)");
}

TEST(SlowdownTextTest, NothingIsSaidOfWhatIsNotKnown) {
  EXPECT_EQ(SlowdownText({}), "");
  EXPECT_EQ(SlowdownPartsText({}), "");
}

TEST(SlowdownTextTest, NamesThePartsWhereThereAreSeveral) {
  CaptureSummary capture = Capture(0.008, 0.005);
  SlowdownSummary* slowdown = capture.mutable_slowdown();
  slowdown->set_tracing_share(0.006);
  EXPECT_EQ(SlowdownPartsText(capture), "");
  slowdown->set_sampling_share(0.001);
  slowdown->set_start_and_end_share(0.001);
  EXPECT_EQ(SlowdownPartsText(capture),
            "of the run by tracing 0.6 %, by sampling 0.1 %, at start and end 0.1 %");
  slowdown->set_measured(true);
  EXPECT_EQ(SlowdownPartsText(capture),
            "of the run by tracing 0.6 %, by sampling 0.1 %, at start and end 0.1 %");
  slowdown->clear_sampling_share();
  EXPECT_EQ(SlowdownPartsText(capture),
            "of the run by tracing and sampling 0.6 %, at start and end 0.1 %");
}

}  // namespace
}  // namespace utlz
