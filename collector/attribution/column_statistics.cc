#include "collector/attribution/column_statistics.h"

namespace utlz::attribution {

void ColumnStatistics::AddPart(double part, double shared, double others_rate,
                               double squared_residual, double share) {
  attributed_ += part;
  shared_ += shared;
  others_rates_ += others_rate;
  residual_weight_ += share;
  squared_residuals_ += share * squared_residual;
}

void ColumnStatistics::AddLaunch(double value) {
  ++launches_;
  const double distance = value - mean_;
  mean_ += distance / static_cast<double>(launches_);
  squares_ += distance * (value - mean_);
}

double ColumnStatistics::variance() const {
  return launches_ > 1 ? squares_ / static_cast<double>(launches_ - 1) : 0;
}

double ColumnStatistics::residual_variance() const {
  return residual_weight_ > 0 ? squared_residuals_ / residual_weight_ : 0;
}

}  // namespace utlz::attribution
