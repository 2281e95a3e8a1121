// Finds out whether launches of one variant plainly come in kinds, by their durations.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_DURATION_CLUSTERS_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_DURATION_CLUSTERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace utlz::attribution {

// Durations that separate the clusters, ascending: none where there is one cluster. Two clusters
// are separate where no launch lies between them over a fifth of their duration and each holds
// enough launches, or enough of their time, not to be a mishap. At most kMaxDurationClusters - 1
// separators.
inline constexpr size_t kMaxDurationClusters = 6;
std::vector<int64_t> SeparateDurations(std::vector<int64_t> durations_ns);

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_DURATION_CLUSTERS_H_
