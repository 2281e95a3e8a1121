#include "collector/metrics/job_progress.h"

#include <gtest/gtest.h>

#include "tests/support/nanoseconds.h"

namespace utlz {
namespace {

// All that is known is of now.
void Update(uint64_t time_ns, double steps, JobProgress* progress) {
  progress->Update(steps, time_ns);
  progress->Place(time_ns, steps);
}

TEST(JobProgress, KnowsNothingBeforeTheFirstStep) {
  const JobProgress progress;
  EXPECT_FALSE(progress.steps().has_value());
  EXPECT_FALSE(progress.StepSeconds().has_value());
}

TEST(JobProgress, CountsOnWhereTheEstimateShrinks) {
  JobProgress progress;
  Update(1 * kSecondNs, 100, &progress);
  Update(2 * kSecondNs, 50, &progress);  // another kernel marks the steps now
  EXPECT_EQ(progress.steps(), 100);
  Update(3 * kSecondNs, 53, &progress);
  EXPECT_EQ(progress.steps(), 103);
}

TEST(JobProgress, TellsHowLongStepsTakeNow) {
  JobProgress progress;
  double steps = 0;
  for (uint64_t second = 1; second <= 60; ++second) {
    steps += second <= 30 ? 10 : 5;
    Update(second * kSecondNs, steps, &progress);
  }
  EXPECT_DOUBLE_EQ(progress.StepSeconds().value(), 0.2);
}

// Steps after the last that was traced are counted, and no time is known of them.
TEST(JobProgress, WhatIsNotPlacedInTimeDoesNotShortenSteps) {
  JobProgress progress;
  for (uint64_t second = 1; second <= 20; ++second) {
    const auto traced = static_cast<double>(10 * second);
    progress.Update(traced + (second % 2 == 0 ? 50 : 0), second * kSecondNs);
    progress.Place(second * kSecondNs, traced);
    if (second < 3) continue;
    ASSERT_TRUE(progress.StepSeconds().has_value());
    EXPECT_DOUBLE_EQ(progress.StepSeconds().value(), 0.1);
  }
}

TEST(JobProgress, BeginsAnewWhereAnotherKernelMarksTheSteps) {
  JobProgress progress;
  for (uint64_t second = 1; second <= 20; ++second) {
    Update(second * kSecondNs, static_cast<double>(second <= 10 ? 100 * second : 10 * second),
           &progress);
  }
  EXPECT_DOUBLE_EQ(progress.StepSeconds().value(), 0.1);
}

TEST(JobProgress, LooksBackAsFarAsAFewSteps) {
  JobProgress progress;
  for (uint64_t second = 0; second <= 100; ++second) {
    Update((1 + second) * kSecondNs, static_cast<double>(second / 20), &progress);
  }
  EXPECT_NEAR(progress.StepSeconds().value(), 20, 7);
}

// It hangs, or is recorded no more: what was true of a moment is not said for ever.
TEST(JobProgress, NothingOfAJobThatStands) {
  JobProgress progress;
  for (uint64_t second = 1; second <= 20; ++second) {
    Update(second * kSecondNs, static_cast<double>(10 * second), &progress);
  }
  progress.Update(200, 60 * kSecondNs);
  EXPECT_TRUE(progress.StepSeconds().has_value()) << "windows may be so far apart";
  progress.Update(200, 70 * kSecondNs);
  EXPECT_FALSE(progress.StepSeconds().has_value());
  EXPECT_TRUE(progress.LastStepSeconds().has_value());
  EXPECT_EQ(progress.steps(), 200) << "what it counted stays";
  progress = {};
  for (uint64_t step = 1; step <= 5; ++step) {
    Update(step * 60 * kSecondNs, static_cast<double>(step), &progress);
  }
  progress.Update(5, 600 * kSecondNs);
  EXPECT_TRUE(progress.StepSeconds().has_value()) << "its steps are as long";
}

TEST(JobProgress, TooFewSteps) {
  JobProgress progress;
  Update(1 * kSecondNs, 0, &progress);
  Update(2 * kSecondNs, 2, &progress);
  EXPECT_FALSE(progress.StepSeconds().has_value());
}

}  // namespace
}  // namespace utlz
