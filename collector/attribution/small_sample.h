// How much wider an interval is for a mean of few.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_SMALL_SAMPLE_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_SMALL_SAMPLE_H_

#include <cstddef>
#include <cstdint>

namespace utlz::attribution {

// Student's t over the normal's 1.96, so that +-1.96 standard errors of a mean of few values is
// still a 95 % interval. Fisher's expansion; `values` > 1.
double SmallSampleFactor(uint64_t values);

// A variance of fewer clusters says little, even with Student's t.
inline constexpr size_t kFewestClusters = 4;

// So does a line through fewer launches.
inline constexpr uint64_t kFewestForSlope = 8;

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_SMALL_SAMPLE_H_
