// How sure a fit is of what every column did in all its launches, for a unit noise.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_FIT_COVARIANCE_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_FIT_COVARIANCE_H_

#include <Eigen/Core>
#include <cstddef>

#include "collector/attribution/column_plan.h"
#include "collector/attribution/rate_fit.h"

namespace utlz::attribution {

class FitCovariance {
 public:
  FitCovariance(const RateFit& fit, const ColumnPlan& plan);

  // Standard deviation of the column's total.
  double Deviation(size_t column) const;
  // Of two columns' totals; 0 where one of them is certain.
  double Correlation(size_t a, size_t b) const;

 private:
  Eigen::MatrixXd covariance_;  // lower triangle
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_FIT_COVARIANCE_H_
