// What was attributed to one column for one counter, launch by launch.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_COLUMN_STATISTICS_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_COLUMN_STATISTICS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "collector/attribution/cluster_variance.h"

namespace utlz::attribution {

class ColumnStatistics {
 public:
  // A part of a sample's count that was given to the column. `shared` is the geometric mean of the
  // part and the rest of the sample: zero where the column had the sample for itself.
  // `others_rate` is how fast others worked, in counts for each nanosecond, next to an edge of the
  // launch that lies in the sample; zero where none does.
  void AddPart(double part, double shared, double others_rate, double squared_residual,
               double share);
  // The sum of a launch's parts; only launches that samples covered for the most part.
  void AddLaunch(double value, double duration_ns, const ClusterNumbers& clusters);
  // A launch that samples and short holes between them span: what samples gave to it, what it was
  // expected to have of them, and what it is expected to have done in the holes.
  void AddWhole(double attributed, double expected, double imputed, double duration_ns);
  // A launch's share that samples covered, in [0, 1].
  void AddCovered(double share) { covered_launches_ += share; }

  double attributed() const { return attributed_; }
  double shared() const { return shared_; }
  double others_rates() const { return others_rates_; }
  double covered_launches() const { return covered_launches_; }
  uint64_t launches() const { return launches_; }
  // What a launch does, by all that are whole. The fit says how much of it lies in holes, by as
  // much as it is right where samples are; launches that samples hit well are no fair choice of
  // all.
  double per_launch() const;
  // How much longer launches of that mean duration take than those that `per_launch` is of.
  double LongerNs(double mean_duration_ns) const;
  // What launches do that take `longer_ns` longer in the mean: those that samples hit may have been
  // longer or shorter than all.
  double PerLongerLaunch(double longer_ns) const;
  // Of that, what is guessed because launches do not show whether those that take longer do more:
  // half of what it would be in proportion.
  double GuessedOfLonger(double longer_ns) const;
  // How much more launches do that take longer, in counts for each nanosecond: between nothing and
  // in proportion. Zero where launches do not show it.
  double slope() const;
  bool KnowsSlope() const;
  // Variance of one launch's value; zero for fewer than two launches.
  double variance() const;
  // By how much the variance of the mean grows because the slope is uncertain: the further away
  // from the launches that were seen, the more.
  double Leverage(double longer_ns) const;
  // Variance of one launch's value among launches of one duration, as far as the slope is known.
  double VarianceBesideSlope() const;
  const ClusterVariance& clusters(size_t level) const { return clusters_[level]; }
  // Mean squared residual of the fit in the column's samples.
  double residual_variance() const;

 private:
  double HalfInProportion() const;
  double FittedSlope() const;
  double VarianceBeside(double slope) const;

  double attributed_ = 0;
  double shared_ = 0;
  double others_rates_ = 0;
  double covered_launches_ = 0;
  double residual_weight_ = 0;
  double squared_residuals_ = 0;
  double whole_launches_ = 0;
  double whole_attributed_ = 0;
  double whole_expected_ = 0;
  double whole_imputed_ = 0;
  double whole_duration_ns_ = 0;
  uint64_t launches_ = 0;
  double mean_ = 0;
  double mean_duration_ns_ = 0;
  double squares_ = 0;            // of distances from the mean
  double duration_squares_ = 0;   // likewise
  double duration_products_ = 0;  // of both distances
  std::array<ClusterVariance, kClusterLevels> clusters_;
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_COLUMN_STATISTICS_H_
