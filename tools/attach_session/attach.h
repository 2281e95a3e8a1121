// `utlz attach`: a session around processes that run already.
#ifndef UTLZ_TOOLS_ATTACH_SESSION_ATTACH_H_
#define UTLZ_TOOLS_ATTACH_SESSION_ATTACH_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "tools/run/recording_options.h"

namespace utlz {

struct AttachOptions {
  std::vector<pid_t> pids;  // not empty
  bool all = false;         // every CUDA process of their servers too
  RecordingOptions recording;
  uint64_t duration_ms = 10'000;
  // How long a thread of a process may stand still until the agent begins to be loaded.
  uint64_t stop_limit_ms = 20;
};

// Attaches, records until the duration is over, a signal comes or the last process ends, then
// deactivates the agents and writes the profile. Returns 0, or 1 if some process could not be
// attached to or no profile was written. Prints to standard error only.
int AttachToProcesses(const AttachOptions& options);

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTACH_SESSION_ATTACH_H_
