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

// The mean of values that come cluster by cluster.
class ClusterVariance {
 public:
  void Add(uint64_t cluster, double value);

  size_t clusters() const { return clusters_; }
  // Variance of the mean of all values, by how far the clusters' means lie from it. Zero for fewer
  // than two clusters.
  double VarianceOfMean() const;
  // Variance of one cluster's mean, a mean over the clusters; the values' own scatter is part of
  // it.
  double VarianceOfCluster() const;

 private:
  struct Sums {
    double squares = 0;  // of the clusters' sums
    double cross = 0;    // of their sums and sizes
    double sizes = 0;    // of their sizes, squared
  };
  Sums All() const;
  double SquaredDistances() const;

  // Values are taken relative to the first: differences of squares keep their digits.
  double first_ = 0;
  double values_ = 0;
  double sum_ = 0;
  Sums closed_;
  size_t clusters_ = 0;
  uint64_t cluster_ = 0;  // that is open
  double open_values_ = 0;
  double open_sum_ = 0;
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_CLUSTER_VARIANCE_H_
