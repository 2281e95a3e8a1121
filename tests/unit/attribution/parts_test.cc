#include <gtest/gtest.h>

#include <Eigen/Core>
#include <random>

#include "collector/attribution/column_folding.h"
#include "collector/attribution/duration_clusters.h"
#include "collector/attribution/nonnegative_solver.h"
#include "collector/attribution/profile_shape.h"

namespace utlz::attribution {
namespace {

TEST(NonNegativeSolver, MeetsTheOptimalityConditions) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  Eigen::VectorXd near;
  for (int round = 0; round < 20; ++round) {
    const Eigen::MatrixXd rows =
        Eigen::MatrixXd::NullaryExpr(60, 25, [&] { return normal(random); });
    const Eigen::MatrixXd square = rows.transpose() * rows;
    NonNegativeSolver solver(square);
    for (int side = 0; side < 3; ++side) {
      const Eigen::VectorXd values =
          Eigen::VectorXd::NullaryExpr(60, [&] { return normal(random); });
      const Eigen::VectorXd right = rows.transpose() * values;
      const Eigen::VectorXd solved = solver.Solve(right, near);
      const Eigen::VectorXd gradient = right - square * solved;
      for (Eigen::Index i = 0; i < solved.size(); ++i) {
        EXPECT_GE(solved(i), 0);
        EXPECT_LT(gradient(i), 1e-6);
        EXPECT_NEAR(solved(i) * gradient(i), 0, 1e-6);
      }
      near = solved;
    }
  }
}

TEST(DurationClusters, OneKindIsNotSplit) {
  std::vector<int64_t> durations;
  for (int64_t i = 0; i < 100; ++i) durations.push_back(10'000 + 20 * i);
  EXPECT_TRUE(SeparateDurations(durations).empty());
}

TEST(DurationClusters, KindsAreSplitAndMishapsAreNot) {
  std::vector<int64_t> durations;
  for (int64_t i = 0; i < 50; ++i) {
    durations.push_back(10'000 + i);
    durations.push_back(30'000 + i);
  }
  durations.push_back(500'000);
  const std::vector<int64_t> separators = SeparateDurations(durations);
  ASSERT_EQ(separators.size(), 1u);
  EXPECT_GT(separators[0], 10'050);
  EXPECT_LT(separators[0], 30'000);
}

TEST(DurationClusters, FewThatTakeMuchOfTheTimeAreAKind) {
  std::vector<int64_t> durations;
  for (int64_t i = 0; i < 400; ++i) durations.push_back(10'000 + i);
  for (int64_t i = 0; i < 8; ++i) durations.push_back(100'000 + i);
  EXPECT_EQ(SeparateDurations(durations).size(), 1u);
  for (int64_t& duration : durations) duration = std::min<int64_t>(duration, 15'000);
  EXPECT_TRUE(SeparateDurations(durations).empty()) << "neither many nor much time";
}

TEST(ProfileShape, HatsAddUpToTheTimeBetweenTheEdges) {
  for (const double duration : {400.0, 1500.0, 5000.0, 40'000.0, 1e6}) {
    const ProfileShape shape = ProfileShape::ForDuration(duration, {500, 0.5}, 100);
    const ProfileShape::Knots knots = shape.PlaceKnots(duration, duration + 2000);
    double sum_us = 0;
    for (size_t hat = 0; hat < shape.coefficients(); ++hat) {
      const double whole = shape.HatIntegral(knots, hat, -1e9, 1e9);
      const double halves = shape.HatIntegral(knots, hat, -1e9, duration / 3) +
                            shape.HatIntegral(knots, hat, duration / 3, 1e9);
      EXPECT_NEAR(whole, halves, 1e-9);
      EXPECT_GT(whole, 0);
      sum_us += whole;
    }
    const double edges_us =
        (knots.at[1] - knots.at[0] + knots.at[shape.coefficients() + 1] - duration) / 2 * 1e-3;
    EXPECT_NEAR(sum_us, (duration + 2000) * 1e-3 - edges_us, 1e-6) << duration;
  }
}

TEST(ProfileShape, LittleDataMeansAConstantRate) {
  const ProfileShape shape = ProfileShape::ForDuration(5000, {500, 0.5}, 1);
  EXPECT_EQ(shape.coefficients(), 1u);
  EXPECT_NEAR(shape.HatIntegral(shape.PlaceKnots(4000, 6000), 0, 1000, 9000), 3, 1e-9);
}

TEST(ColumnFolding, JoinsChains) {
  ColumnFolding folding(6);
  folding.Join(4, 2);
  folding.Join(5, 4);
  const auto groups = folding.Groups();
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0], (std::vector<size_t>{2, 4, 5}));
}

TEST(ColumnFolding, OnlyOpposedAndUncertainColumnsAreConfounded) {
  EXPECT_TRUE(Confounded(1, 1, 1, 1, -0.99));
  EXPECT_FALSE(Confounded(1, 1, 1, 1, -0.5));
  EXPECT_FALSE(Confounded(1, 0.1, 1, 1, -0.99));
}

}  // namespace
}  // namespace utlz::attribution
