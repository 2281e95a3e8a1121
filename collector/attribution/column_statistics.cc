#include "collector/attribution/column_statistics.h"

#include <algorithm>
#include <cmath>

#include "collector/attribution/small_sample.h"

namespace utlz::attribution {
namespace {

// Of what may be anything from nothing to in proportion, over the latter: 1/√12.
constexpr double kEvenSpread = 0.289;

}  // namespace

void ColumnStatistics::AddPart(double part, double shared, double others_rate,
                               double squared_residual, double share) {
  attributed_ += part;
  shared_ += shared;
  others_rates_ += others_rate;
  residual_weight_ += share;
  squared_residuals_ += share * squared_residual;
}

void ColumnStatistics::AddLaunch(double value, double duration_ns, const ClusterNumbers& clusters) {
  ++launches_;
  for (size_t level = 0; level < kClusterLevels; ++level) {
    clusters_[level].Add(clusters[level], value, duration_ns);
  }
  const double distance = value - mean_;
  const double duration_distance = duration_ns - mean_duration_ns_;
  mean_ += distance / static_cast<double>(launches_);
  mean_duration_ns_ += duration_distance / static_cast<double>(launches_);
  squares_ += distance * (value - mean_);
  duration_squares_ += duration_distance * (duration_ns - mean_duration_ns_);
  duration_products_ += duration_distance * (value - mean_);
}

void ColumnStatistics::AddWhole(double attributed, double expected, double imputed,
                                double duration_ns) {
  ++whole_launches_;
  whole_attributed_ += attributed;
  whole_expected_ += expected;
  whole_imputed_ += imputed;
  whole_duration_ns_ += duration_ns;
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

double ColumnStatistics::LongerNs(double mean_duration_ns) const {
  return whole_launches_ > 0 ? mean_duration_ns - whole_duration_ns_ / whole_launches_ : 0;
}

double ColumnStatistics::HalfInProportion() const {
  return whole_duration_ns_ > 0 ? per_launch() * whole_launches_ / whole_duration_ns_ / 2 : 0;
}

double ColumnStatistics::PerLongerLaunch(double longer_ns) const {
  const double by = KnowsSlope() ? slope() : HalfInProportion();
  return std::max(0.0, per_launch() + by * longer_ns);
}

double ColumnStatistics::GuessedOfLonger(double longer_ns) const {
  return KnowsSlope() ? 0 : HalfInProportion() * std::abs(longer_ns);
}

bool ColumnStatistics::KnowsSlope() const {
  if (launches_ < kFewestForSlope || duration_squares_ <= 0 || mean_ <= 0) return false;
  const double error = std::sqrt(VarianceBeside(FittedSlope()) / duration_squares_);
  return error < kEvenSpread * mean_ / mean_duration_ns_;
}

double ColumnStatistics::FittedSlope() const {
  return std::clamp(duration_products_ / duration_squares_, 0.0, mean_ / mean_duration_ns_);
}

double ColumnStatistics::slope() const { return KnowsSlope() ? FittedSlope() : 0; }

double ColumnStatistics::Leverage(double longer_ns) const {
  if (!KnowsSlope()) return 1;
  return 1 + static_cast<double>(launches_) * longer_ns * longer_ns / duration_squares_;
}

double ColumnStatistics::VarianceBeside(double slope) const {
  const double left = squares_ - 2 * slope * duration_products_ + slope * slope * duration_squares_;
  return std::max(0.0, left) / static_cast<double>(launches_ - 2);
}

double ColumnStatistics::VarianceBesideSlope() const {
  return KnowsSlope() ? VarianceBeside(FittedSlope()) : variance();
}

double ColumnStatistics::variance() const {
  return launches_ > 1 ? squares_ / static_cast<double>(launches_ - 1) : 0;
}

double ColumnStatistics::residual_variance() const {
  return residual_weight_ > 0 ? squared_residuals_ / residual_weight_ : 0;
}

}  // namespace utlz::attribution
