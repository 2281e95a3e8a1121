// How the processes of a run do now, over the last seconds. Thread safety: none.
#ifndef UTLZ_COLLECTOR_LIVE_LIVE_PROCESSES_H_
#define UTLZ_COLLECTOR_LIVE_LIVE_PROCESSES_H_

#include <cstdint>
#include <map>

#include "collector/live/recent.h"
#include "collector/metrics/process_history.h"
#include "collector/metrics/process_progress.h"
#include "collector/metrics/work_ledger.h"
#include "collector/run/run_state.h"
#include "proto/live.pb.h"

namespace utlz {

class LiveProcesses {
 public:
  // `work` is up to date.
  void Update(const RunState& run_state, const WorkLedger& work);
  void AddTo(const RunState& run_state, const ProcessProgress& progress,
             LiveSnapshot* snapshot) const;

 private:
  struct State {
    double traced_kernel_ns = 0;
    double traced_ns = 0;
  };
  using Table = std::map<uint32_t, State>;  // by source

  static State StateOf(const RunState& run_state, const ProcessState& process);

  Recent<Table> tables_;
  ProcessHistory history_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_LIVE_LIVE_PROCESSES_H_
