// From a profile to its numbers.
#ifndef UTLZ_TOOLS_REPLAY_REPLAY_H_
#define UTLZ_TOOLS_REPLAY_REPLAY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "collector/run/run_intake.h"
#include "proto/summary.pb.h"

namespace utlz {

struct LoadOptions {
  // A larger profile without an end is not replayed if the collector noted its state in between.
  uint64_t replayed_at_most_bytes = 32u << 20;
};

// The summary that the run left in its profile. Where the collector was killed, or an earlier utlz
// left it, that of a replay; of a large profile the last that the collector noted down, with a
// notice.
absl::StatusOr<Summary> LoadSummary(const std::string& path, const LoadOptions& options = {});

// Sends every frame of a profile through the collector's stages again, as if it came now. The
// summary counts what could not be read.
absl::StatusOr<Summary> ReplayProfile(const std::string& path, const SummaryOptions& options = {});

// The same, with the run marked as a recording. `note` says of what, for the first lines.
absl::StatusOr<Summary> ReplayRecording(const std::string& path, const std::string& note,
                                        const SummaryOptions& options = {});

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPLAY_REPLAY_H_
