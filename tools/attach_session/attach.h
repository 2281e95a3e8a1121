// `utlz attach`: a session around processes that run already.
#ifndef UTLZ_TOOLS_ATTACH_SESSION_ATTACH_H_
#define UTLZ_TOOLS_ATTACH_SESSION_ATTACH_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "collector/session/session.h"
#include "proto/summary.pb.h"

namespace utlz {

struct AttachOptions {
  std::vector<pid_t> pids;  // not empty
  bool all = false;         // every CUDA process of their servers too
  std::string output;       // empty: a default name in the current folder
  CountersMode counters = CountersMode::kAuto;
  uint32_t overhead_budget_ppm = 10000;
  uint64_t duration_ms = 10'000;
  // How long a thread of a process may stand still until the agent begins to be loaded.
  uint64_t stop_limit_ms = 20;
  bool report = true;
  bool nvtx = false;
  // Prints the report to standard error.
  std::function<void(const Summary& summary)> print_report;
};

// Attaches, records until the duration is over, a signal comes or the last process ends, puts the
// agents to sleep, writes the profile. Returns 0, or 1 if some process could not be attached to or
// no profile was written. Everything of ours goes to standard error.
int AttachToProcesses(const AttachOptions& options);

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTACH_SESSION_ATTACH_H_
