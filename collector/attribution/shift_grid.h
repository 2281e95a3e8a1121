// Shifts at which residuals are looked at, and where between them the least lies.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_SHIFT_GRID_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_SHIFT_GRID_H_

#include <cstddef>
#include <vector>

namespace utlz::attribution {

// `steps` to each side of the middle.
std::vector<double> Grid(double middle_ns, double step_ns, int steps);

// Where the parabola through a value and its neighbours is least; the value's own place at either
// end of the grid, and where the values do not bend up.
double ParabolaLeastAt(const std::vector<double>& grid, const std::vector<double>& values,
                       size_t at);

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_SHIFT_GRID_H_
