#include "collector/attribution/small_sample.h"

#include <cmath>

#include "collector/normal_interval.h"

namespace utlz::attribution {

double SmallSampleFactor(uint64_t values) {
  const double freedom = static_cast<double>(values - 1);
  constexpr double z = kNormal95;
  const double first = (z * z * z + z) / (4 * freedom);
  const double second = (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * freedom * freedom);
  return freedom < 3 ? (freedom < 2 ? 12.706 : 4.303) / z : (z + first + second) / z;
}

}  // namespace utlz::attribution
