#include "collector/sampler/window_plan.h"

#include <gtest/gtest.h>

#include "tests/support/nanoseconds.h"

namespace utlz {
namespace {

TEST(WindowPlanTest, NothingIsDueBeforeAnythingIsPlanned) {
  EXPECT_FALSE(WindowPlan().due_ns().has_value());
  EXPECT_FALSE(WindowPlan().Missed(kSecondNs));
}

TEST(WindowPlanTest, OneThatNobodyPlansBeginsByItself) {
  WindowPlan plan;
  plan.BeginAlone(kSecondNs);
  EXPECT_EQ(plan.due_ns(), kSecondNs + WindowPlan::kUnplannedNs);
  EXPECT_EQ(plan.PlanAt(0, 9 * kSecondNs), 9 * kSecondNs);
  EXPECT_EQ(plan.due_ns(), 9 * kSecondNs) << "who plans it is waited for";
}

TEST(WindowPlanTest, TheLatestWishCountsWhileAllCanHearOfIt) {
  WindowPlan plan;
  plan.PlanAt(0, kSecondNs);
  EXPECT_EQ(plan.PlanAt(0, 2 * kSecondNs), 2 * kSecondNs);
  EXPECT_EQ(plan.PlanAt(0, kSecondNs), 2 * kSecondNs);
  const uint64_t late_ns = 2 * kSecondNs - WindowPlan::kNoticeNs;
  EXPECT_EQ(plan.PlanAt(late_ns, 3 * kSecondNs), 2 * kSecondNs);
}

TEST(WindowPlanTest, OneThatCouldNotBeginInTimeIsMissed) {
  WindowPlan plan;
  plan.PlanAt(0, kSecondNs);
  EXPECT_FALSE(plan.Missed(kSecondNs / 2)) << "it is still to come";
  EXPECT_FALSE(plan.Missed(kSecondNs + WindowPlan::kLatestBeginNs));
  EXPECT_TRUE(plan.Missed(kSecondNs + WindowPlan::kLatestBeginNs + 1));
}

TEST(WindowPlanTest, AfterOneThatWasCutTheNextIsPreparedAtOnce) {
  WindowPlan plan;
  plan.Cut();
  EXPECT_EQ(plan.due_ns(), 0u);
  EXPECT_TRUE(plan.Missed(0));
  plan.Clear();
  EXPECT_FALSE(plan.due_ns().has_value());
}

TEST(WindowPlanTest, OneThatIsNearIsSettled) {
  WindowPlan plan;
  EXPECT_FALSE(plan.Settled(0));
  plan.PlanAt(0, kSecondNs);
  EXPECT_FALSE(plan.Settled(kSecondNs - WindowPlan::kSettledNs));
  EXPECT_TRUE(plan.Settled(kSecondNs - WindowPlan::kSettledNs + 1));
  plan.Begin();
  EXPECT_FALSE(plan.Settled(kSecondNs));
}

}  // namespace
}  // namespace utlz
