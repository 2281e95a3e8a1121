#include "collector/attribution/nonnegative_solver.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <vector>

namespace utlz::attribution {
namespace {

constexpr int kMaxRounds = 300;
constexpr int kBlockRounds = 5;

Eigen::VectorXd SolvePassive(const Eigen::MatrixXd& lower, const Eigen::VectorXd& right,
                             const std::vector<char>& passive) {
  std::vector<Eigen::Index> chosen;
  for (size_t i = 0; i < passive.size(); ++i) {
    if (passive[i]) chosen.push_back(static_cast<Eigen::Index>(i));
  }
  const auto size = static_cast<Eigen::Index>(chosen.size());
  Eigen::MatrixXd part(size, size);
  Eigen::VectorXd part_right(size);
  for (Eigen::Index column = 0; column < size; ++column) {
    part_right(column) = right(chosen[static_cast<size_t>(column)]);
    for (Eigen::Index row = column; row < size; ++row) {
      part(row, column) =
          lower(chosen[static_cast<size_t>(row)], chosen[static_cast<size_t>(column)]);
    }
  }
  const Eigen::VectorXd solved = part.selfadjointView<Eigen::Lower>().llt().solve(part_right);
  Eigen::VectorXd all = Eigen::VectorXd::Zero(right.size());
  for (Eigen::Index i = 0; i < size; ++i) all(chosen[static_cast<size_t>(i)]) = solved(i);
  return all;
}

}  // namespace

Eigen::VectorXd SolveNonNegative(const Eigen::MatrixXd& lower, const Eigen::VectorXd& right) {
  const auto size = static_cast<size_t>(right.size());
  if (size == 0) return right;
  std::vector<char> passive(size);
  for (size_t i = 0; i < size; ++i) passive[i] = right(static_cast<Eigen::Index>(i)) > 0;
  const double tolerance = 1e-10 * std::max(1e-300, right.cwiseAbs().maxCoeff());

  Eigen::VectorXd best = Eigen::VectorXd::Zero(right.size());
  size_t fewest = size + 1;
  int patience = kBlockRounds;
  for (int round = 0; round < kMaxRounds; ++round) {
    const Eigen::VectorXd point = SolvePassive(lower, right, passive);
    if (!point.allFinite()) break;
    const Eigen::VectorXd gradient = right - lower.selfadjointView<Eigen::Lower>() * point;
    std::vector<size_t> wrong;
    for (size_t i = 0; i < size; ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      if (passive[i] ? point(at) < 0 : gradient(at) > tolerance) wrong.push_back(i);
    }
    if (wrong.size() < fewest) {
      fewest = wrong.size();
      patience = kBlockRounds;
      best = point.cwiseMax(0.0);
    } else {
      --patience;
    }
    if (wrong.empty()) break;
    if (patience >= 0) {
      for (const size_t i : wrong) passive[i] = !passive[i];
    } else {
      passive[wrong.back()] = !passive[wrong.back()];
    }
  }
  return best;
}

}  // namespace utlz::attribution
