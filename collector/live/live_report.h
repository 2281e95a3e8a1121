// What a run says of itself while it goes on: asked again and again, it keeps what it needs to say
// how it goes now.
//
// Costs as much as an analysis of the run, milliseconds; how often it is asked is the caller's to
// bound. Thread safety: none.
#ifndef UTLZ_COLLECTOR_LIVE_LIVE_REPORT_H_
#define UTLZ_COLLECTOR_LIVE_LIVE_REPORT_H_

#include <cstdint>

#include "collector/live/live_devices.h"
#include "collector/live/live_kernels.h"
#include "collector/live/live_processes.h"
#include "collector/metrics/job_progress.h"
#include "collector/metrics/time_ledger.h"
#include "collector/metrics/work_ledger.h"
#include "collector/metrics/worth_table.h"
#include "collector/run/run_state.h"
#include "proto/live.pb.h"

namespace utlz {

class LiveReport {
 public:
  // `state` as RunIntake::Advance() returns it; `time_ns` is now, since 1970. Passes CheckLive().
  LiveSnapshot Take(const RunState& run_state, uint64_t time_ns);

 private:
  void AddJob(const RunState& run_state, const Analysis& analysis, LiveSnapshot* snapshot) const;

  WorthTable worths_;
  WorkLedger work_;
  TimeLedger time_;
  JobProgress progress_;
  LiveDevices devices_;
  LiveProcesses processes_;
  LiveKernels kernels_;
  uint64_t begun_ns_ = 0;  // of the run's time, when it was asked first
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_LIVE_LIVE_REPORT_H_
