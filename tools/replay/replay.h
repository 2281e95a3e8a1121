// From a profile to its numbers.
#ifndef UTLZ_TOOLS_REPLAY_REPLAY_H_
#define UTLZ_TOOLS_REPLAY_REPLAY_H_

#include <string>

#include "absl/status/statusor.h"
#include "collector/model/run_model.h"
#include "proto/summary.pb.h"

namespace utlz {

// The summary that the run left in its profile; where there is none (the collector was killed),
// that of a replay.
absl::StatusOr<Summary> LoadSummary(const std::string& path);

// Sends every frame of a profile through the model again, as if it came now. What could not be read
// is counted in the summary.
absl::StatusOr<Summary> ReplayProfile(const std::string& path, const ModelOptions& options = {});

// The same, with the run marked as a recording. `note` says of what, for the first lines.
absl::StatusOr<Summary> ReplayRecording(const std::string& path, const std::string& note,
                                        const ModelOptions& options = {});

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPLAY_REPLAY_H_
