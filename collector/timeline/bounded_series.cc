#include "collector/timeline/bounded_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace utlz {

void BoundedSeries::Halve() {
  const size_t half = (points_.size() + 1) / 2;
  for (size_t i = 0; i < half; ++i) {
    Point joined = points_[2 * i];
    if (2 * i + 1 < points_.size()) {
      joined.sum += points_[2 * i + 1].sum;
      joined.weight_ns += points_[2 * i + 1].weight_ns;
    }
    points_[i] = joined;
  }
  points_.resize(half);
  interval_ns_ *= 2;
  current_start_ns_ = current_end_ns_ = 0;
}

void BoundedSeries::Add(uint64_t start_ns, uint64_t end_ns, double value) {
  if (points_.empty()) start_ns_ = start_ns;
  if (start_ns < start_ns_ || end_ns <= start_ns) return;
  if (start_ns >= current_start_ns_ && end_ns <= current_end_ns_) {
    return AddTo(&points_[current_], end_ns - start_ns, value);
  }
  // The interval stops doubling before it can overflow; what lies farther off is left out.
  while ((end_ns - 1 - start_ns_) / interval_ns_ >= kMaxPoints) {
    if (interval_ns_ > (uint64_t{1} << 52)) return;
    Halve();
  }
  const size_t last = (end_ns - 1 - start_ns_) / interval_ns_;
  if (points_.size() <= last) points_.resize(last + 1);
  for (size_t i = (start_ns - start_ns_) / interval_ns_; i <= last; ++i) {
    const uint64_t begin = std::max(start_ns, start_ns_ + i * interval_ns_);
    const uint64_t end = std::min(end_ns, start_ns_ + (i + 1) * interval_ns_);
    AddTo(&points_[i], end - begin, value);
  }
  current_ = last;
  current_start_ns_ = start_ns_ + last * interval_ns_;
  current_end_ns_ = current_start_ns_ + interval_ns_;
}

std::vector<BoundedSeries::Part> BoundedSeries::PartsBetween(uint64_t start_ns,
                                                             uint64_t end_ns) const {
  std::vector<Part> parts;
  for (size_t i = 0; i < points_.size(); ++i) {
    const uint64_t begin_ns = std::max(start_ns, start_ns_ + i * interval_ns_);
    const uint64_t stop_ns = std::min(end_ns, start_ns_ + (i + 1) * interval_ns_);
    if (begin_ns >= stop_ns || points_[i].weight_ns <= 0) continue;
    const double share =
        static_cast<double>(stop_ns - begin_ns) / static_cast<double>(interval_ns_);
    parts.push_back({share * points_[i].weight_ns, points_[i].sum / points_[i].weight_ns});
  }
  return parts;
}

std::optional<double> BoundedSeries::MeanBetween(uint64_t start_ns, uint64_t end_ns) const {
  const std::optional<Estimate> estimate = EstimateBetween(start_ns, end_ns);
  return estimate.has_value() ? std::make_optional(estimate->mean) : std::nullopt;
}

std::optional<BoundedSeries::Estimate> BoundedSeries::EstimateBetween(uint64_t start_ns,
                                                                      uint64_t end_ns) const {
  const std::vector<Part> parts = PartsBetween(start_ns, end_ns);
  Estimate estimate;
  for (const Part& part : parts) {
    estimate.held_ns += part.weight_ns;
    estimate.mean += part.weight_ns * part.mean;
  }
  if (estimate.held_ns <= 0) return std::nullopt;
  estimate.mean /= estimate.held_ns;
  double squares = 0;
  for (const Part& part : parts) {
    const double distance = part.weight_ns * (part.mean - estimate.mean);
    squares += distance * distance;
  }
  estimate.error = std::sqrt(squares) / estimate.held_ns;
  return estimate;
}

std::vector<double> BoundedSeries::SharesOfInterval() const {
  std::vector<double> shares;
  shares.reserve(points_.size());
  for (const Point& point : points_) {
    shares.push_back(point.sum / static_cast<double>(interval_ns_));
  }
  return shares;
}

std::vector<double> BoundedSeries::Values() const {
  std::vector<double> values;
  values.reserve(points_.size());
  for (const Point& point : points_) {
    values.push_back(point.weight_ns > 0 ? point.sum / point.weight_ns
                                         : std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

}  // namespace utlz
