// Sends snapshots of the run to `utlz top`: one a second, or as often as their cost allows, and
// none while nobody reads them. What takes long runs as a study of the recorder, which ends before
// this. Thread safety: none.
#ifndef UTLZ_COLLECTOR_SESSION_LIVE_SOURCE_H_
#define UTLZ_COLLECTOR_SESSION_LIVE_SOURCE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "collector/live/live_report.h"
#include "collector/live/live_server.h"
#include "collector/metrics/snapshot_pace.h"
#include "collector/session/run_recorder.h"

namespace utlz {

class LiveSource {
 public:
  // Nobody can ask where the folder is empty, or no socket can be made in it.
  explicit LiveSource(const std::string& folder);

  // Call this at least twice a second; never waits. Time of CLOCK_MONOTONIC.
  void Serve(RunRecorder* recorder, uint64_t monotonic_ns);

 private:
  std::optional<LiveServer> server_;
  std::optional<LiveReport> report_;  // since somebody first asked
  SnapshotPace pace_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_LIVE_SOURCE_H_
