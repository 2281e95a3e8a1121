// How uncertain the mean of launches is that are not independent: neighbours in time share data,
// caches and their place in a layer or step.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_CLUSTER_VARIANCE_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_CLUSTER_VARIANCE_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace utlz::attribution {

// Stretches of time that launches fall into: of some milliseconds each, and windows, which end
// where samples pause. Numbers grow.
inline constexpr size_t kClusterLevels = 4;
inline constexpr size_t kWindowLevel = kClusterLevels - 1;
using ClusterNumbers = std::array<uint64_t, kClusterLevels>;

class ClusterClock {
 public:
  // The next sample; `follows` where it belongs to the window of the one before.
  void MoveTo(int64_t sample_start_ns, bool follows);
  const ClusterNumbers& numbers() const { return numbers_; }

 private:
  ClusterNumbers numbers_{};
  std::array<int64_t, kClusterLevels> begins_ns_{};
};

// The mean of values that come cluster by cluster, each with a covariate: something else that is
// known of it, such as a launch's duration. Variances are of value - slope x covariate.
class ClusterVariance {
 public:
  void Add(uint64_t cluster, double value, double covariate);

  size_t clusters() const { return clusters_; }
  // Variance of the mean of all values, by how far the clusters' means lie from it. Zero for fewer
  // than two clusters.
  double VarianceOfMean(double slope) const;
  // Variance of one cluster's mean, a mean over the clusters; the values' own scatter is part of
  // it.
  double VarianceOfCluster(double slope) const;
  // Of the mean of the covariates, likewise.
  double VarianceOfCovariateMean() const;

 private:
  // Products of two of these, summed over clusters: the sum of a cluster's values, the sum of its
  // covariates, and its size.
  struct Products {
    double values = 0;
    double values_covariates = 0;
    double covariates = 0;
    double values_sizes = 0;
    double covariates_sizes = 0;
    double sizes = 0;
  };
  Products All() const;
  double SquaredDistances(double of_values, double of_covariates) const;

  // Both are taken relative to the first: differences of squares keep their digits.
  double first_value_ = 0;
  double first_covariate_ = 0;
  double count_ = 0;
  double value_sum_ = 0;
  double covariate_sum_ = 0;
  Products closed_;
  size_t clusters_ = 0;
  uint64_t cluster_ = 0;  // that is open
  double open_count_ = 0;
  double open_value_sum_ = 0;
  double open_covariate_sum_ = 0;
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_CLUSTER_VARIANCE_H_
