#include "tools/compare/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace utlz {
namespace {

TEST(StatisticsTest, NormalQuantilesOfTables) {
  EXPECT_NEAR(NormalTwoSidedProbability(1.959964), 0.05, 1e-6);
  EXPECT_NEAR(NormalTwoSidedProbability(-2.575829), 0.01, 1e-6);
  EXPECT_DOUBLE_EQ(NormalTwoSidedProbability(0), 1);
}

TEST(StatisticsTest, StudentQuantilesOfTables) {
  EXPECT_NEAR(StudentTwoSidedProbability(12.7062, 1), 0.05, 1e-5);
  EXPECT_NEAR(StudentTwoSidedProbability(2.2281, 10), 0.05, 1e-5);
  EXPECT_NEAR(StudentTwoSidedProbability(-3.1693, 10), 0.01, 1e-5);
  EXPECT_NEAR(StudentTwoSidedProbability(1.959964, 1e7), 0.05, 1e-5);
}

TEST(StatisticsTest, VarianceIsUnbiased) {
  EXPECT_DOUBLE_EQ(Variance({1, 3}), 2);
  EXPECT_DOUBLE_EQ(Variance({5}), 0);
}

TEST(StatisticsTest, BatchMeansSeeSlowDrift) {
  std::vector<double> drift;
  for (int i = 0; i < 1600; ++i) drift.push_back(std::sin(i * 2 * M_PI / 1600));
  const double naive = std::sqrt(Variance(drift) / 1600);
  EXPECT_GT(*BatchMeansError(drift), 5 * naive);
  EXPECT_FALSE(BatchMeansError({1, 2, 3}).has_value());
}

}  // namespace
}  // namespace utlz
