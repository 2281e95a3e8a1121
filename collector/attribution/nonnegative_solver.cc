#include "collector/attribution/nonnegative_solver.h"

#include <algorithm>
#include <vector>

namespace utlz::attribution {
namespace {

constexpr int kMaxRounds = 300;
constexpr int kBlockRounds = 5;

}  // namespace

void NonNegativeSolver::Factor(const std::vector<char>& free) {
  factored_ = free;
  chosen_.clear();
  for (size_t i = 0; i < free.size(); ++i) {
    if (free[i]) chosen_.push_back(static_cast<Eigen::Index>(i));
  }
  const auto size = static_cast<Eigen::Index>(chosen_.size());
  factor_.reset();
  part_.resize(size, size);
  for (Eigen::Index column = 0; column < size; ++column) {
    const Eigen::Index from = chosen_[static_cast<size_t>(column)];
    for (Eigen::Index row = column; row < size; ++row) {
      part_(row, column) = lower_(chosen_[static_cast<size_t>(row)], from);
    }
  }
  factor_.emplace(part_);
}

Eigen::VectorXd NonNegativeSolver::SolveFree(const Eigen::VectorXd& right,
                                             const std::vector<char>& free) {
  if (free != factored_) Factor(free);
  const auto size = static_cast<Eigen::Index>(chosen_.size());
  Eigen::VectorXd part(size);
  for (Eigen::Index i = 0; i < size; ++i) part(i) = right(chosen_[static_cast<size_t>(i)]);
  factor_->solveInPlace(part);
  Eigen::VectorXd all = Eigen::VectorXd::Zero(right.size());
  for (Eigen::Index i = 0; i < size; ++i) all(chosen_[static_cast<size_t>(i)]) = part(i);
  return all;
}

Eigen::VectorXd NonNegativeSolver::Solve(const Eigen::VectorXd& right,
                                         const Eigen::VectorXd& near) {
  const auto size = static_cast<size_t>(right.size());
  if (size == 0) return right;
  const Eigen::VectorXd& start = near.size() == right.size() ? near : right;
  std::vector<char> free(size);
  for (size_t i = 0; i < size; ++i) free[i] = start(static_cast<Eigen::Index>(i)) > 0;
  const double tolerance = 1e-10 * std::max(1e-300, right.cwiseAbs().maxCoeff());

  Eigen::VectorXd best = Eigen::VectorXd::Zero(right.size());
  size_t fewest = size + 1;
  int patience = kBlockRounds;
  for (int round = 0; round < kMaxRounds; ++round) {
    const Eigen::VectorXd point = SolveFree(right, free);
    if (!point.allFinite()) break;
    const Eigen::VectorXd gradient = right - lower_.selfadjointView<Eigen::Lower>() * point;
    std::vector<size_t> wrong;
    for (size_t i = 0; i < size; ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      if (free[i] ? point(at) < 0 : gradient(at) > tolerance) wrong.push_back(i);
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
      for (const size_t i : wrong) free[i] = !free[i];
    } else {
      free[wrong.back()] = !free[wrong.back()];
    }
  }
  return best;
}

}  // namespace utlz::attribution
