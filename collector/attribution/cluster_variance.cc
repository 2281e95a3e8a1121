#include "collector/attribution/cluster_variance.h"

#include <algorithm>

namespace utlz::attribution {
namespace {

// From about what a kernel's neighbours share to about a step; windows have no length of their own.
constexpr std::array<int64_t, kClusterLevels - 1> kLengthsNs = {1'000'000, 4'000'000, 16'000'000};

}  // namespace

void ClusterClock::MoveTo(int64_t sample_start_ns, bool follows) {
  for (size_t level = 0; level < kClusterLevels; ++level) {
    const bool goes_on = follows && (level == kWindowLevel ||
                                     sample_start_ns - begins_ns_[level] < kLengthsNs[level]);
    if (goes_on) continue;
    ++numbers_[level];
    begins_ns_[level] = sample_start_ns;
  }
}

void ClusterVariance::Add(uint64_t cluster, double value) {
  if (clusters_ == 0) first_ = value;
  if (clusters_ == 0 || cluster != cluster_) {
    closed_ = All();
    open_values_ = 0;
    open_sum_ = 0;
    cluster_ = cluster;
    ++clusters_;
  }
  ++values_;
  ++open_values_;
  sum_ += value - first_;
  open_sum_ += value - first_;
}

ClusterVariance::Sums ClusterVariance::All() const {
  return {closed_.squares + open_sum_ * open_sum_, closed_.cross + open_sum_ * open_values_,
          closed_.sizes + open_values_ * open_values_};
}

// Sum over the clusters of (sum - size x mean of all) squared.
double ClusterVariance::SquaredDistances() const {
  if (clusters_ < 2) return 0;
  const Sums all = All();
  const double mean = sum_ / values_;
  const auto clusters = static_cast<double>(clusters_);
  return std::max(0.0, all.squares - 2 * mean * all.cross + mean * mean * all.sizes) * clusters /
         (clusters - 1);
}

double ClusterVariance::VarianceOfMean() const {
  return clusters_ < 2 ? 0 : SquaredDistances() / (values_ * values_);
}

double ClusterVariance::VarianceOfCluster() const {
  return clusters_ < 2 ? 0 : SquaredDistances() / All().sizes;
}

}  // namespace utlz::attribution
