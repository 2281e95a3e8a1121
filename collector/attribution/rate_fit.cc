#include "collector/attribution/rate_fit.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <utility>

#include "collector/attribution/nonnegative_solver.h"

namespace utlz::attribution {
namespace {

// Weight of a shape's second differences against its own data. Small: it only settles what the
// samples leave open, such as where within its life a launch shorter than a sample did its work.
constexpr double kSmoothness = 0.02;

void AddSmoothness(const WorkColumn& column, Eigen::MatrixXd* lower) {
  const auto first = static_cast<Eigen::Index>(column.first_coefficient);
  const auto count = static_cast<Eigen::Index>(column.shape.coefficients());
  if (count < 2) return;
  double weight = 0;
  for (Eigen::Index i = 0; i < count; ++i) weight += (*lower)(first + i, first + i);
  weight *= kSmoothness / static_cast<double>(count);
  // Rows 1, -2, 1 over the coefficients, with a zero before the first and after the last.
  for (Eigen::Index middle = 0; middle < count; ++middle) {
    for (Eigen::Index a = middle - 1; a <= middle + 1; ++a) {
      for (Eigen::Index b = middle - 1; b <= a; ++b) {
        if (b < 0 || a >= count) continue;
        const double left = a == middle ? -2 : 1;
        const double right = b == middle ? -2 : 1;
        (*lower)(first + a, first + b) += weight * left * right;
      }
    }
  }
}

}  // namespace

RateFit::RateFit(size_t max_coefficients, std::vector<size_t> counters)
    : counters_(std::move(counters)),
      equations_(max_coefficients, counters_.size()),
      exposure_(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(max_coefficients))),
      rates_(counters_.size()),
      mean_rates_(counters_.size()),
      right_(counters_.size()) {}

void RateFit::Observe(const Coverage& coverage) {
  exposure_(ColumnPlan::kIdleCoefficient) += coverage.uncovered_ns * 1e-3;
  for (const Coverage::Piece& piece : coverage.pieces) {
    const double* integrals = coverage.values.data() + piece.first_value;
    for (uint32_t i = 0; i < piece.count; ++i) {
      exposure_(piece.first_coefficient + i) += integrals[i];
    }
  }
}

void RateFit::Learn(const Coverage& coverage, std::span<const double> values) {
  row_.clear();
  const double idle_us = coverage.uncovered_ns * 1e-3;
  if (idle_us > 0) row_.push_back({ColumnPlan::kIdleCoefficient, 1, &idle_us});
  for (const Coverage::Piece& piece : coverage.pieces) {
    const double* integrals = coverage.values.data() + piece.first_value;
    row_.push_back({piece.first_coefficient, piece.count, integrals});
  }
  for (size_t i = 0; i < counters_.size(); ++i) right_[i] = values[counters_[i]];
  equations_.AddRow(row_, right_, 1.0);
}

Eigen::MatrixXd RateFit::RegularisedSystem(const ColumnPlan& plan) const {
  const auto size = static_cast<Eigen::Index>(plan.coefficients());
  Eigen::MatrixXd lower = equations_.lower().topLeftCorner(size, size);
  for (const WorkColumn& column : plan.columns()) AddSmoothness(column, &lower);
  const double greatest = lower.diagonal().maxCoeff();
  for (Eigen::Index i = 0; i < size; ++i) {
    lower(i, i) += 1e-9 * lower(i, i) + 1e-12 * greatest;
    if (lower(i, i) <= 0) lower(i, i) = 1;
  }
  return lower;
}

void RateFit::Fit(const ColumnPlan& plan, const RateFit* similar) {
  const auto size = static_cast<Eigen::Index>(plan.coefficients());
  NonNegativeSolver solver(RegularisedSystem(plan));
  for (size_t index = 0; index < counters_.size(); ++index) {
    const Eigen::VectorXd right =
        equations_.right().col(static_cast<Eigen::Index>(index)).head(size);
    rates_[index] = solver.Solve(right, (similar == nullptr ? *this : *similar).rates_[index]);
    mean_rates_[index].assign(plan.columns().size(), 0);
    for (size_t column = 0; column < plan.columns().size(); ++column) {
      const WorkColumn& work = plan.columns()[column];
      const auto first = static_cast<Eigen::Index>(work.first_coefficient);
      const auto count = static_cast<Eigen::Index>(work.shape.coefficients());
      const double exposure = exposure_.segment(first, count).sum();
      if (exposure <= 0) continue;
      mean_rates_[index][column] =
          rates_[index].segment(first, count).dot(exposure_.segment(first, count)) / exposure;
    }
  }
}

double RateFit::rate(size_t index, size_t coefficient) const {
  const Eigen::VectorXd& rates = rates_[index];
  const auto at = static_cast<Eigen::Index>(coefficient);
  return at < rates.size() ? rates(at) : 0;
}

double RateFit::mean_rate(size_t index, size_t column) const {
  return column < mean_rates_[index].size() ? mean_rates_[index][column] : 0;
}

double RateFit::FittedTotal(size_t index, const WorkColumn& column) const {
  double total = 0;
  for (size_t i = 0; i < column.shape.coefficients(); ++i) {
    const size_t coefficient = column.first_coefficient + i;
    total += rate(index, coefficient) * exposure_(static_cast<Eigen::Index>(coefficient));
  }
  return total;
}

double RateFit::ResidualShare(size_t index) const {
  const Eigen::VectorXd& rates = rates_[index];
  const Eigen::Index size = rates.size();
  const Eigen::VectorXd product =
      equations_.lower().topLeftCorner(size, size).selfadjointView<Eigen::Lower>() * rates;
  const double fitted = rates.dot(product);
  const double cross =
      rates.dot(equations_.right().col(static_cast<Eigen::Index>(index)).head(size));
  const double total = equations_.square_sum(index);
  return total > 0 ? std::max(0.0, (total - 2 * cross + fitted) / total) : 0;
}

// With A = LL', the covariance W'A⁻¹W is V'V where LV = W.
Eigen::MatrixXd RateFit::Covariance(const ColumnPlan& plan, Eigen::MatrixXd weights) const {
  Eigen::MatrixXd lower = RegularisedSystem(plan);
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factor(lower);
  factor.matrixL().solveInPlace(weights);
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(weights.cols(), weights.cols());
  covariance.selfadjointView<Eigen::Lower>().rankUpdate(weights.transpose());
  return covariance;
}

}  // namespace utlz::attribution
