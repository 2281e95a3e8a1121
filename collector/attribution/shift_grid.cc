#include "collector/attribution/shift_grid.h"

namespace utlz::attribution {

std::vector<double> Grid(double middle_ns, double step_ns, int steps) {
  std::vector<double> grid;
  for (int i = -steps; i <= steps; ++i) grid.push_back(middle_ns + step_ns * i);
  return grid;
}

double ParabolaLeastAt(const std::vector<double>& grid, const std::vector<double>& values,
                       size_t at) {
  if (at == 0 || at + 1 == values.size()) return grid[at];
  const double left = (values[at - 1] - values[at]) / (grid[at] - grid[at - 1]);
  const double right = (values[at + 1] - values[at]) / (grid[at + 1] - grid[at]);
  const double bend = left + right;
  if (bend <= 0) return grid[at];
  const double left_ns = grid[at] - grid[at - 1];
  const double right_ns = grid[at + 1] - grid[at];
  return grid[at] + 0.5 * (left * right_ns - right * left_ns) / bend;
}

}  // namespace utlz::attribution
