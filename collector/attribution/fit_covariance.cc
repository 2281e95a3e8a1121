#include "collector/attribution/fit_covariance.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace utlz::attribution {

FitCovariance::FitCovariance(const RateFit& fit, const ColumnPlan& plan) {
  const auto coefficients = static_cast<Eigen::Index>(plan.coefficients());
  const auto columns = static_cast<Eigen::Index>(plan.columns().size());
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(coefficients, columns);
  for (Eigen::Index column = 0; column < columns; ++column) {
    const WorkColumn& work = plan.columns()[static_cast<size_t>(column)];
    const auto first = static_cast<Eigen::Index>(work.first_coefficient);
    const auto count = static_cast<Eigen::Index>(work.shape.coefficients());
    weights.col(column).segment(first, count) = fit.exposure().segment(first, count);
  }
  covariance_ = fit.Covariance(plan, std::move(weights));
}

double FitCovariance::Deviation(size_t column) const {
  const auto at = static_cast<Eigen::Index>(column);
  return std::sqrt(std::max(0.0, covariance_(at, at)));
}

double FitCovariance::Correlation(size_t a, size_t b) const {
  const double scale = Deviation(a) * Deviation(b);
  if (scale <= 0) return 0;
  return covariance_(static_cast<Eigen::Index>(std::max(a, b)),
                     static_cast<Eigen::Index>(std::min(a, b))) /
         scale;
}

}  // namespace utlz::attribution
