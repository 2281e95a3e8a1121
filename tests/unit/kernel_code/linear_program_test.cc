#include "collector/kernel_code/linear_program.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace utlz {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(LinearProgramTest, FindsTheLeastAndTheMost) {
  // x + 2y <= 4, 3x + y <= 6, x + y >= 1.
  LinearProgram program(2, {{{{0, 1}, {1, 2}}, -kInfinity, 4},
                            {{{0, 3}, {1, 1}}, -kInfinity, 6},
                            {{{0, 1}, {1, 1}}, 1, kInfinity}});
  EXPECT_NEAR(program.Minimum({-1, -1}).value_or(0), -2.8, 1e-6);
  EXPECT_NEAR(program.Minimum({2, 3}).value_or(0), 2, 1e-6);
  EXPECT_NEAR(program.Minimum({-1, 0}).value_or(0), -2, 1e-6);
}

TEST(LinearProgramTest, AnEquationFixesASum) {
  LinearProgram program(3, {{{{0, 1}, {1, 1}, {2, 1}}, 6, 6}, {{{2, 1}}, 2, 4}});
  EXPECT_NEAR(program.Minimum({0, 0, 1}).value_or(0), 2, 1e-6);
  EXPECT_NEAR(program.Minimum({1, 1, 0}).value_or(0), 2, 1e-6);
}

TEST(LinearProgramTest, TermsOfOneVariableAddUp) {
  LinearProgram program(1, {{{{0, 1}, {0, 1}}, 6, 6}});
  EXPECT_NEAR(program.Minimum({1}).value_or(0), 3, 1e-6);
}

TEST(LinearProgramTest, NothingIsFoundWhereNothingFits) {
  LinearProgram program(1, {{{{0, 1}}, 3, kInfinity}, {{{0, 1}}, -kInfinity, 2}});
  EXPECT_FALSE(program.Minimum({1}).has_value());
  LinearProgram negative(1, {{{{0, 1}}, -kInfinity, -1}});
  EXPECT_FALSE(negative.Minimum({1}).has_value());
}

TEST(LinearProgramTest, NothingIsFoundWithoutALeastValue) {
  LinearProgram program(2, {{{{0, 1}, {1, -1}}, 0, 0}});
  EXPECT_FALSE(program.Minimum({-1, 0}).has_value());
  EXPECT_NEAR(program.Minimum({1, 0}).value_or(1), 0, 1e-6);
}

TEST(LinearProgramTest, NothingIsFoundBeyondWhatADoubleHolds) {
  LinearProgram program(1, {{{{0, 1}}, -kInfinity, 1e308}});
  EXPECT_FALSE(program.Minimum({-1000}).has_value());
}

TEST(LinearProgramTest, TooLargeAProgramIsLeft) {
  std::vector<LinearRow> rows(4000, {{{0, 1}}, 0, 1});
  LinearProgram program(1, rows);
  EXPECT_FALSE(program.Minimum({1}).has_value());
}

// The least value over all corners of the rows and of x >= 0, or none where no corner fits.
double LeastCorner(const Eigen::MatrixXd& rows, const Eigen::VectorXd& most,
                   const Eigen::VectorXd& costs) {
  const Eigen::Index variables = rows.cols();
  Eigen::MatrixXd all(rows.rows() + variables, variables);
  all << rows, -Eigen::MatrixXd::Identity(variables, variables);
  Eigen::VectorXd limits(all.rows());
  limits << most, Eigen::VectorXd::Zero(variables);
  double least = kInfinity;
  std::vector<Eigen::Index> chosen(variables);
  const std::function<void(Eigen::Index, Eigen::Index)> choose = [&](Eigen::Index at,
                                                                     Eigen::Index from) {
    if (at < variables) {
      for (Eigen::Index row = from; row < all.rows(); ++row) {
        chosen[at] = row;
        choose(at + 1, row + 1);
      }
      return;
    }
    const Eigen::MatrixXd corner = all(chosen, Eigen::all);
    const Eigen::FullPivLU<Eigen::MatrixXd> solver(corner);
    if (!solver.isInvertible()) return;
    const Eigen::VectorXd point = solver.solve(limits(chosen));
    if (((all * point - limits).array() <= 1e-9).all()) {
      least = std::min(least, costs.dot(point));
    }
  };
  choose(0, 0);
  return least;
}

TEST(LinearProgramTest, AgreesWithTheBestCorner) {
  std::mt19937 random(3);
  const auto number = [&] { return static_cast<double>(random() % 11) - 5; };
  int solved = 0;
  for (int turn = 0; turn < 500; ++turn) {
    const Eigen::Index variables = 1 + random() % 4;
    const Eigen::Index size = 1 + random() % 5;
    Eigen::MatrixXd rows = Eigen::MatrixXd::NullaryExpr(size + 1, variables, number);
    // Within a simplex, so that there is a least value.
    rows.row(size).setOnes();
    Eigen::VectorXd most = Eigen::VectorXd::NullaryExpr(size + 1, number);
    most(size) = 10;
    const Eigen::VectorXd costs = Eigen::VectorXd::NullaryExpr(variables, number);
    std::vector<LinearRow> program_rows;
    for (Eigen::Index row = 0; row <= size; ++row) {
      LinearRow& added = program_rows.emplace_back();
      added.least = -kInfinity;
      added.most = most(row);
      for (Eigen::Index column = 0; column < variables; ++column) {
        added.terms.push_back({static_cast<size_t>(column), rows(row, column)});
      }
    }
    const double least = LeastCorner(rows, most, costs);
    LinearProgram program(static_cast<size_t>(variables), program_rows);
    const std::optional<double> found =
        program.Minimum(std::vector<double>(costs.data(), costs.data() + variables));
    ASSERT_EQ(found.has_value(), std::isfinite(least)) << turn;
    if (!found.has_value()) continue;
    ++solved;
    EXPECT_NEAR(*found, least, 1e-4) << turn;
    EXPECT_LE(*found, least + 1e-9) << turn;
  }
  EXPECT_GT(solved, 200);
}

}  // namespace
}  // namespace utlz
