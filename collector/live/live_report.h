// What a run says of itself while it goes on: asked again and again, it keeps what it needs to say
// how it goes now.
//
// A snapshot adds up what came since the last one, which takes about a millisecond. What costs more
// is found out anew as seldom as keeps each of both below 0.5 % of a core: what launches are worth
// (an analysis of the run, hundreds of milliseconds where it is large) and the job's steps. Between
// two renewals launches count what they were worth at the last one, and kernels that are newer have
// no bound. How often a snapshot is asked for is the caller's to bound. Thread safety: none.
#ifndef UTLZ_COLLECTOR_LIVE_LIVE_REPORT_H_
#define UTLZ_COLLECTOR_LIVE_LIVE_REPORT_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "collector/clocks.h"
#include "collector/live/live_devices.h"
#include "collector/live/live_kernels.h"
#include "collector/live/live_owners.h"
#include "collector/live/live_processes.h"
#include "collector/metrics/job_progress.h"
#include "collector/metrics/process_progress.h"
#include "collector/metrics/renewal_pace.h"
#include "collector/metrics/time_ledger.h"
#include "collector/metrics/work_ledger.h"
#include "collector/metrics/worth_pace.h"
#include "collector/metrics/worth_table.h"
#include "collector/run/run_state.h"
#include "proto/live.pb.h"

namespace utlz {

class LiveReport {
 public:
  // `cpu_ns` returns the processor time that this thread has taken so far.
  explicit LiveReport(std::function<uint64_t()> cpu_ns = ThreadCpuNs)
      : cpu_ns_(std::move(cpu_ns)) {}

  // `run_state` as RunIntake::Advance() returns it, here and below. Call this before each snapshot;
  // nearly always nothing is due. The time is of any clock that only grows.
  void RenewWhatIsDue(const RunState& run_state, uint64_t monotonic_ns);
  bool RenewalIsDue(const RunState& run_state, uint64_t monotonic_ns) const {
    return worth_pace_.Due(run_state, monotonic_ns) || steps_pace_.Due(monotonic_ns);
  }
  // `time_ns` is now, since 1970. Passes CheckLive().
  LiveSnapshot Take(const RunState& run_state, uint64_t time_ns);

 private:
  void RenewWorth(const RunState& run_state);
  void RenewSteps(const RunState& run_state);
  void AddJob(const RunState& run_state, LiveSnapshot* snapshot) const;

  std::function<uint64_t()> cpu_ns_;
  WorthPace worth_pace_;
  RenewalPace steps_pace_;
  WorthTable worths_;
  WorkLedger work_;
  TimeLedger time_;
  JobProgress progress_;
  ProcessProgress process_progress_;
  LiveDevices devices_;
  LiveProcesses processes_;
  LiveKernels kernels_;
  LiveOwners owners_;
  uint64_t begun_ns_ = 0;  // of the run's time, when it was asked first
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_LIVE_LIVE_REPORT_H_
