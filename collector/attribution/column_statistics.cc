#include "collector/attribution/column_statistics.h"

#include <algorithm>

namespace utlz::attribution {

void ColumnStatistics::AddPart(double part, double shared, double others_rate,
                               double squared_residual, double share) {
  attributed_ += part;
  shared_ += shared;
  others_rates_ += others_rate;
  residual_weight_ += share;
  squared_residuals_ += share * squared_residual;
}

void ColumnStatistics::AddLaunch(double value, const ClusterNumbers& clusters) {
  ++launches_;
  for (size_t level = 0; level < kClusterLevels; ++level) {
    clusters_[level].Add(clusters[level], value);
  }
  const double distance = value - mean_;
  mean_ += distance / static_cast<double>(launches_);
  squares_ += distance * (value - mean_);
}

void ColumnStatistics::AddWhole(double attributed, double expected, double imputed) {
  ++whole_launches_;
  whole_attributed_ += attributed;
  whole_expected_ += expected;
  whole_imputed_ += imputed;
}

double ColumnStatistics::per_launch() const {
  if (whole_launches_ <= 0) return covered_launches_ > 0 ? attributed_ / covered_launches_ : 0;
  // A fit that is further off says nothing.
  constexpr double kMostOff = 2;
  const double off = whole_expected_ > 0
                         ? std::clamp(whole_attributed_ / whole_expected_, 1 / kMostOff, kMostOff)
                         : 1;
  return (whole_attributed_ + off * whole_imputed_) / whole_launches_;
}

double ColumnStatistics::variance() const {
  return launches_ > 1 ? squares_ / static_cast<double>(launches_ - 1) : 0;
}

double ColumnStatistics::residual_variance() const {
  return residual_weight_ > 0 ? squared_residuals_ / residual_weight_ : 0;
}

}  // namespace utlz::attribution
