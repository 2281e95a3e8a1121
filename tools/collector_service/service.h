// `utlz collector`: takes in agents over one socket for as long as it runs, and records each job
// into a profile of its own.
//
// A target is never harmed by what happens here: its agent drops what is not read, and looks for
// the next collector where this one ends, however it ends.
#ifndef UTLZ_TOOLS_COLLECTOR_SERVICE_SERVICE_H_
#define UTLZ_TOOLS_COLLECTOR_SERVICE_SERVICE_H_

#include <cstdint>
#include <string>

#include "collector/ingest/agent_listener.h"
#include "tools/collector_service/job_table.h"
#include "tools/run/recording_options.h"

namespace utlz {

struct CollectorServiceOptions {
  std::string socket;  // unix:PATH or a path; empty: DefaultServiceSocket()
  std::string folder;  // of the profiles; empty: StateFolder("profiles")
  AgentUsers users = AgentUsers::kOwn;
  JobLimits limits;
  uint64_t most_bytes_per_second = 64'000'000;  // that are read of one process; 0: any
  RecordingOptions recording;                   // of each job; its output and report do not count
  std::string rules;  // a file of rules (attach_rules.h); empty: processes come by themselves alone
};

// Serves until a signal ends it, then finishes the profiles. Returns an exit status. Everything is
// said on standard error, a line each.
int RunCollectorService(const CollectorServiceOptions& options);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COLLECTOR_SERVICE_SERVICE_H_
