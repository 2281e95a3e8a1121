// Non-negative least squares on normal equations.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_NONNEGATIVE_SOLVER_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_NONNEGATIVE_SOLVER_H_

#include <Eigen/Core>

namespace utlz::attribution {

// Minimises x'Ax / 2 - b'x over x >= 0 by block principal pivoting (Portugal, Judice and Vicente
// 1994), which ends because after some rounds single pivots take over. `lower` is the lower
// triangle of A, which must be positive definite. Where rounding keeps it from ending, the best
// feasible point is returned.
Eigen::VectorXd SolveNonNegative(const Eigen::MatrixXd& lower, const Eigen::VectorXd& right);

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_NONNEGATIVE_SOLVER_H_
