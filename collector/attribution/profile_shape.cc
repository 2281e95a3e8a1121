#include "collector/attribution/profile_shape.h"

#include <algorithm>
#include <cmath>

namespace utlz::attribution {
namespace {

// The knots of one half of a life stay this share of it away from the other half's.
constexpr double kLargestHalf = 0.45;

// Integral of the unit ramp that rises over [low, high], from `low` to `at`.
double RisingRamp(double low, double high, double at) {
  if (high <= low || at <= low) return 0;
  const double part = std::min(at, high) - low;
  return part * part / (2 * (high - low));
}

double FallingRamp(double low, double high, double at) {
  if (high <= low || at <= low) return 0;
  const double part = std::min(at, high) - low;
  return part - part * part / (2 * (high - low));
}

}  // namespace

ProfileShape ProfileShape::ForDuration(double typical_duration_ns,
                                       const ShapeResolution& resolution,
                                       double most_coefficients) {
  ProfileShape shape;
  shape.typical_duration_ns_ = std::max(typical_duration_ns, 1.0);
  double distance = resolution.first_knot_ns;
  while (shape.distances_ < kMaxDistances && distance <= kLargestHalf * typical_duration_ns &&
         2 * shape.distances_ + 3 <= most_coefficients) {
    shape.distance_ns_[shape.distances_++] = distance;
    distance += std::max(resolution.first_knot_ns, resolution.growth * distance);
  }
  if (shape.distances_ == 0 && most_coefficients >= 3) {
    shape.distance_ns_[shape.distances_++] = kLargestHalf * shape.typical_duration_ns_;
  }
  if (shape.distances_ > 0) {
    shape.coefficients_ = static_cast<uint16_t>(2 * shape.distances_ + 1);
  }
  return shape;
}

ProfileShape::Knots ProfileShape::PlaceKnots(double duration_ns, double tail_end_ns) const {
  Knots knots;
  const double squeeze = std::min(1.0, duration_ns / std::max(typical_duration_ns_, 1.0));
  size_t count = 0;
  knots.at[count++] = 0;
  for (size_t i = 0; i < distances_; ++i) knots.at[count++] = squeeze * distance_ns_[i];
  for (size_t i = distances_; i-- > 0;) knots.at[count++] = duration_ns - squeeze * distance_ns_[i];
  knots.at[count++] = duration_ns;
  knots.at[count] = std::max(tail_end_ns, duration_ns);
  return knots;
}

double ProfileShape::HatIntegral(const Knots& knots, size_t index, double from_ns,
                                 double to_ns) const {
  if (distances_ == 0) {
    return std::max(0.0, std::min(to_ns, knots.at[1]) - std::max(from_ns, knots.at[0])) * 1e-3;
  }
  const double low = knots.at[index];
  const double middle = knots.at[index + 1];
  const double high = knots.at[index + 2];
  if (to_ns <= low || from_ns >= high) return 0;
  const double rising = RisingRamp(low, middle, to_ns) - RisingRamp(low, middle, from_ns);
  const double falling = FallingRamp(middle, high, to_ns) - FallingRamp(middle, high, from_ns);
  return std::max(0.0, (rising + falling) * 1e-3);
}

}  // namespace utlz::attribution
