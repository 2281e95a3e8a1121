// How the GPUs of a run do now: rates of the last seconds, causes of their time, and the ceilings
// that they and this workload have. Thread safety: none.
#ifndef UTLZ_COLLECTOR_LIVE_LIVE_DEVICES_H_
#define UTLZ_COLLECTOR_LIVE_LIVE_DEVICES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collector/analysis/analysis.h"
#include "collector/metrics/device_history.h"
#include "collector/metrics/time_ledger.h"
#include "collector/metrics/work_ledger.h"
#include "collector/run/run_state.h"
#include "proto/live.pb.h"

namespace utlz {

class LiveDevices {
 public:
  // The ceilings that the workload sets itself.
  void Renew(const RunState& run_state, const Analysis& analysis);
  // `work` and `time` are up to date.
  void Update(const RunState& run_state, const WorkLedger& work, const TimeLedger& time);
  void AddTo(const RunState& run_state, LiveSnapshot* snapshot) const;

 private:
  // What this workload could reach, as shares of the peaks.
  struct Workload {
    std::optional<double> compute_share;
    std::optional<double> memory_share;
  };

  static Workload WorkloadOf(const RunState& run_state, const Analysis& analysis, uint32_t device);
  void AddCauses(size_t device, LiveDevice* shown) const;

  std::vector<Workload> workloads_;       // as DeviceTable at the last renewal
  std::vector<DeviceHistory> histories_;  // by device
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_LIVE_LIVE_DEVICES_H_
