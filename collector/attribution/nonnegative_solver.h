// Non-negative least squares on normal equations.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_NONNEGATIVE_SOLVER_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_NONNEGATIVE_SOLVER_H_

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <optional>
#include <utility>
#include <vector>

namespace utlz::attribution {

// Minimises x'Ax / 2 - b'x over x >= 0, of one A and several b, by block principal pivoting
// (Portugal, Judice and Vicente 1994), which ends because after some rounds single pivots take
// over. Not thread safe.
class NonNegativeSolver {
 public:
  // The lower triangle of A, which must be positive definite.
  explicit NonNegativeSolver(Eigen::MatrixXd lower) : lower_(std::move(lower)) {}
  NonNegativeSolver(const NonNegativeSolver&) = delete;
  NonNegativeSolver& operator=(const NonNegativeSolver&) = delete;

  // Begins with those above zero that are above zero in `near`, the solution of a similar problem
  // of the same size; where it is empty, with those whose right side is above zero. Where rounding
  // keeps the search from ending, the best feasible point is returned.
  Eigen::VectorXd Solve(const Eigen::VectorXd& right, const Eigen::VectorXd& near);

 private:
  Eigen::VectorXd SolveFree(const Eigen::VectorXd& right, const std::vector<char>& free);
  void Factor(const std::vector<char>& free);

  Eigen::MatrixXd lower_;
  // The part of A whose variables are free to differ from zero, as it was factored last. Right
  // sides that agree in these share it.
  std::vector<char> factored_ = {};        // by variable: whether it is free
  std::vector<Eigen::Index> chosen_ = {};  // those that are
  Eigen::MatrixXd part_ = {};
  std::optional<Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>> factor_ = {};  // in part_
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_NONNEGATIVE_SOLVER_H_
