// The linear system of one shift group: learns from samples, fits rates that are not negative.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_RATE_FIT_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_RATE_FIT_H_

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

#include "collector/attribution/column_plan.h"
#include "collector/attribution/normal_equations.h"
#include "collector/attribution/sample_walker.h"

namespace utlz::attribution {

class RateFit {
 public:
  RateFit(size_t max_coefficients, std::vector<size_t> counters);

  // One sample's coverage, whether it is learned or not.
  void Observe(const Coverage& coverage);
  // One sample that was observed: `values` has all counters, of which the group's are used.
  void Learn(const Coverage& coverage, std::span<const double> values);
  // Is faster after a fit of the same plan, or where `similar` has one of it.
  void Fit(const ColumnPlan& plan, const RateFit* similar = nullptr);

  const std::vector<size_t>& counters() const { return counters_; }
  // Rate of a coefficient in the counter's unit per microsecond; `index` counts within the group.
  double rate(size_t index, size_t coefficient) const;
  // Mean rate over the life of a column's launches.
  double mean_rate(size_t index, size_t column) const;
  // What the fit gives a column over all observed samples.
  double FittedTotal(size_t index, const WorkColumn& column) const;
  // Sum of squared residuals as a share of the sum of squares.
  double ResidualShare(size_t index) const;

  // Covariance, for a unit noise variance, of sums of rates: each column of `weights` has a sum's
  // weight of each coefficient. Only the lower triangle is filled.
  Eigen::MatrixXd Covariance(const ColumnPlan& plan, Eigen::MatrixXd weights) const;
  // Integral of each coefficient's hat over all observed samples, in microseconds.
  const Eigen::VectorXd& exposure() const { return exposure_; }

 private:
  Eigen::MatrixXd RegularisedSystem(const ColumnPlan& plan) const;

  std::vector<size_t> counters_;
  NormalEquations equations_;
  Eigen::VectorXd exposure_;
  std::vector<Eigen::VectorXd> rates_;           // by index
  std::vector<std::vector<double>> mean_rates_;  // by index, column
  std::vector<RowPiece> row_;                    // scratch
  std::vector<double> right_;                    // scratch
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_RATE_FIT_H_
