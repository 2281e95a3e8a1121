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
  void AddLaunch(double value, const ClusterNumbers& clusters);
  // A launch that samples and short holes between them span: what samples gave to it, what it was
  // expected to have of them, and what it is expected to have done in the holes.
  void AddWhole(double attributed, double expected, double imputed);
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
  // Variance of one launch's value; zero for fewer than two launches.
  double variance() const;
  const ClusterVariance& clusters(size_t level) const { return clusters_[level]; }
  // Mean squared residual of the fit in the column's samples.
  double residual_variance() const;

 private:
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
  uint64_t launches_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  std::array<ClusterVariance, kClusterLevels> clusters_;
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_COLUMN_STATISTICS_H_
