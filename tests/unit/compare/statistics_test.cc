#include "tools/compare/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

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

TEST(StatisticsTest, StudentQuantilesUndoProbabilities) {
  EXPECT_NEAR(StudentQuantile(0.05, 1), 12.7062, 1e-3);
  EXPECT_NEAR(StudentQuantile(0.05, 3), 3.18245, 1e-4);
  EXPECT_NEAR(StudentQuantile(0.01, 15), 2.94671, 1e-4);
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
  EXPECT_FALSE(BatchMeansError({1}).has_value());
}

// Share of made-up series of mean zero whose mean is within 1.96 errors; each value holds `alike`
// of the one before it.
double ShareWithinError(double alike, int values, std::mt19937_64* random) {
  constexpr int kSeries = 500;
  std::normal_distribution<double> normal;
  int within = 0;
  for (int i = 0; i < kSeries; ++i) {
    std::vector<double> series = {normal(*random)};
    while (series.size() < static_cast<size_t>(values)) {
      series.push_back(alike * series.back() + std::sqrt(1 - alike * alike) * normal(*random));
    }
    within += std::abs(Mean(series)) <= 1.96 * *BatchMeansError(series) ? 1 : 0;
  }
  return static_cast<double>(within) / kSeries;
}

TEST(StatisticsTest, TheMeanIsWithinItsErrorAsOftenAsItSays) {
  std::mt19937_64 random(1);
  EXPECT_GT(ShareWithinError(0, 2, &random), 0.93);
  EXPECT_GT(ShareWithinError(0, 3, &random), 0.93);
  EXPECT_GT(ShareWithinError(0, 4, &random), 0.93);
  EXPECT_GT(ShareWithinError(0, 20, &random), 0.94);
  EXPECT_GT(ShareWithinError(0, 300, &random), 0.95);
  // Some hundred values of which some dozen tell anything new.
  EXPECT_GT(ShareWithinError(0.8, 100, &random), 0.93);
  EXPECT_GT(ShareWithinError(0.9, 200, &random), 0.93);
  EXPECT_GT(ShareWithinError(0.95, 400, &random), 0.93);
}

}  // namespace
}  // namespace utlz
