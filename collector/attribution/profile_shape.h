// The rate of a launch over its life, as a sum of hats: piecewise linear, zero at both ends.
//
// Knots lie closer to both ends, where rates change fastest, and wider apart towards the middle.
// One more hat reaches from the end into the time after it. Distances from the ends hold for
// launches that are longer than typical; shorter ones squeeze the shape. Where there is little data
// the rate is constant: one coefficient.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_PROFILE_SHAPE_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_PROFILE_SHAPE_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace utlz::attribution {

// How finely a shape is resolved; a finer one needs more columns and more data.
struct ShapeResolution {
  double first_knot_ns;  // distance of the first knot from each end
  double growth;  // each step inwards is this share of the distance reached, or first_knot_ns
};

class ProfileShape {
 public:
  static constexpr size_t kMaxCoefficients = 32;

  // Times within a launch's frame, in nanoseconds; ascending.
  struct Knots {
    std::array<double, kMaxCoefficients + 2> at;
  };

  // A constant rate.
  ProfileShape() = default;
  // At most `most_coefficients`, of which one at least is used.
  static ProfileShape ForDuration(double typical_duration_ns, const ShapeResolution& resolution,
                                  double most_coefficients);

  size_t coefficients() const { return size_t{coefficients_}; }
  double typical_duration_ns() const { return typical_duration_ns_; }

  // Knots of a launch [0, duration) whose tail ends at `tail_end` >= duration.
  Knots PlaceKnots(double duration_ns, double tail_end_ns) const;

  // Integral of hat `index` over [from, to], in microseconds.
  double HatIntegral(const Knots& knots, size_t index, double from_ns, double to_ns) const;

 private:
  // Knots within each half of the life; none for a constant rate.
  static constexpr size_t kMaxDistances = 15;

  uint16_t coefficients_ = 1;
  uint16_t distances_ = 0;
  std::array<double, kMaxDistances> distance_ns_{};  // from the ends, ascending
  double typical_duration_ns_ = 0;
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_PROFILE_SHAPE_H_
