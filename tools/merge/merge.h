// Several profiles of one job, of several ranks, hosts or both, as one profile.
#ifndef UTLZ_TOOLS_MERGE_MERGE_H_
#define UTLZ_TOOLS_MERGE_MERGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/summary.pb.h"

namespace utlz {

// Writes the profile `output` with the frames of all `paths` on the first one's clock, ordered by
// time, and the summary of the whole. Times of a host are moved by one number, so that counters and
// launches stay as they were to each other; its drift is said (RanksSummary.clocks), not taken out.
// Streams: memory is bounded by that of a RunState and by a million collectives a process.
//
// Errors: those of reading an input or of writing the output; InvalidArgument where an input is the
// output, or where the processes are too many for one profile.
absl::StatusOr<Summary> MergeProfiles(const std::vector<std::string>& paths,
                                      const std::string& output);

}  // namespace utlz

#endif  // UTLZ_TOOLS_MERGE_MERGE_H_
