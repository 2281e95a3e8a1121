// The middle of some values.
#ifndef UTLZ_COLLECTOR_MEDIAN_H_
#define UTLZ_COLLECTOR_MEDIAN_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace utlz {

// The upper one where two values are in the middle. There must be a value.
inline double UpperMedian(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MEDIAN_H_
