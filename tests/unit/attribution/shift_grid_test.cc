#include "collector/attribution/shift_grid.h"

#include <gtest/gtest.h>

#include <vector>

namespace utlz::attribution {
namespace {

TEST(ShiftGrid, IsAsWideToEachSide) {
  EXPECT_EQ(Grid(100, 10, 2), (std::vector<double>{80, 90, 100, 110, 120}));
  EXPECT_EQ(Grid(100, 10, 0), std::vector<double>{100});
}

// Also where steps are of different lengths.
TEST(ShiftGrid, FindsWhereAParabolaIsLeast) {
  for (const std::vector<double>& grid :
       {std::vector<double>{0, 10, 20}, {0, 4, 20}, {0, 16, 20}, {5, 6, 30}}) {
    for (const double least_at : {7.0, 10.0, 12.5}) {
      std::vector<double> values;
      for (const double at : grid) values.push_back(3 + 0.2 * (at - least_at) * (at - least_at));
      EXPECT_NEAR(ParabolaLeastAt(grid, values, 1), least_at, 1e-9) << grid[1];
    }
  }
}

TEST(ShiftGrid, KeepsThePlaceWhereThereIsNoParabola) {
  const std::vector<double> grid = {0, 10, 20};
  EXPECT_EQ(ParabolaLeastAt(grid, {1, 2, 4}, 0), 0);
  EXPECT_EQ(ParabolaLeastAt(grid, {4, 2, 1}, 2), 20);
  EXPECT_EQ(ParabolaLeastAt(grid, {5, 5, 5}, 1), 10);
  EXPECT_EQ(ParabolaLeastAt(grid, {1, 2, 2}, 1), 10) << "it bends down";
}

}  // namespace
}  // namespace utlz::attribution
