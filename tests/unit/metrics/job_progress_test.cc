#include "collector/metrics/job_progress.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

TEST(JobProgress, KnowsNothingBeforeTheFirstStep) {
  const JobProgress progress;
  EXPECT_FALSE(progress.steps().has_value());
  EXPECT_FALSE(progress.step_seconds().has_value());
}

TEST(JobProgress, CountsOnWhereTheEstimateShrinks) {
  JobProgress progress;
  progress.Update(1 * kSecondNs, 100);
  progress.Update(2 * kSecondNs, 50);  // another kernel marks the steps now
  EXPECT_EQ(progress.steps(), 100);
  progress.Update(3 * kSecondNs, 53);
  EXPECT_EQ(progress.steps(), 103);
}

TEST(JobProgress, TellsHowLongStepsTakeNow) {
  JobProgress progress;
  double steps = 0;
  for (uint64_t second = 1; second <= 60; ++second) {
    steps += second <= 30 ? 10 : 5;
    progress.Update(second * kSecondNs, steps);
  }
  EXPECT_DOUBLE_EQ(progress.step_seconds().value(), 0.2);
}

TEST(JobProgress, LooksBackAsFarAsAFewSteps) {
  JobProgress progress;
  for (uint64_t second = 0; second <= 100; ++second) {
    progress.Update((1 + second) * kSecondNs, static_cast<double>(second / 20));
  }
  EXPECT_NEAR(progress.step_seconds().value(), 20, 7);
}

TEST(JobProgress, TooFewSteps) {
  JobProgress progress;
  progress.Update(1 * kSecondNs, 0);
  progress.Update(2 * kSecondNs, 2);
  EXPECT_FALSE(progress.step_seconds().has_value());
}

}  // namespace
}  // namespace utlz
