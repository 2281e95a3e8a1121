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

void ClusterVariance::Add(uint64_t cluster, double value, double covariate) {
  if (clusters_ == 0) {
    first_value_ = value;
    first_covariate_ = covariate;
  }
  if (clusters_ == 0 || cluster != cluster_) {
    closed_ = All();
    open_count_ = 0;
    open_value_sum_ = 0;
    open_covariate_sum_ = 0;
    cluster_ = cluster;
    ++clusters_;
  }
  ++count_;
  ++open_count_;
  value_sum_ += value - first_value_;
  open_value_sum_ += value - first_value_;
  covariate_sum_ += covariate - first_covariate_;
  open_covariate_sum_ += covariate - first_covariate_;
}

ClusterVariance::Products ClusterVariance::All() const {
  return {.values = closed_.values + open_value_sum_ * open_value_sum_,
          .values_covariates = closed_.values_covariates + open_value_sum_ * open_covariate_sum_,
          .covariates = closed_.covariates + open_covariate_sum_ * open_covariate_sum_,
          .values_sizes = closed_.values_sizes + open_value_sum_ * open_count_,
          .covariates_sizes = closed_.covariates_sizes + open_covariate_sum_ * open_count_,
          .sizes = closed_.sizes + open_count_ * open_count_};
}

// Sum over the clusters of (sum - size x mean of all) squared, of a sum of both.
double ClusterVariance::SquaredDistances(double of_values, double of_covariates) const {
  if (clusters_ < 2) return 0;
  const Products all = All();
  const double mean = (of_values * value_sum_ + of_covariates * covariate_sum_) / count_;
  const double squares = of_values * of_values * all.values +
                         2 * of_values * of_covariates * all.values_covariates +
                         of_covariates * of_covariates * all.covariates;
  const double sums_sizes = of_values * all.values_sizes + of_covariates * all.covariates_sizes;
  const auto clusters = static_cast<double>(clusters_);
  return std::max(0.0, squares - 2 * mean * sums_sizes + mean * mean * all.sizes) * clusters /
         (clusters - 1);
}

double ClusterVariance::VarianceOfMean(double slope) const {
  return clusters_ < 2 ? 0 : SquaredDistances(1, -slope) / (count_ * count_);
}

double ClusterVariance::VarianceOfCluster(double slope) const {
  return clusters_ < 2 ? 0 : SquaredDistances(1, -slope) / All().sizes;
}

double ClusterVariance::VarianceOfCovariateMean() const {
  return clusters_ < 2 ? 0 : SquaredDistances(0, 1) / (count_ * count_);
}

}  // namespace utlz::attribution
