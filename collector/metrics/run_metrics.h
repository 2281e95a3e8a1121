// The metrics of a run as it goes on: asked again and again, it keeps what was counted, so that
// counters only grow.
//
// A snapshot takes milliseconds; finding out anew what launches are worth takes as long as an
// analysis of the run, hundreds of milliseconds, and the job's steps up to a hundred. How often
// each is asked for is the caller's to bound (snapshot_pace.h, worth_pace.h, renewal_pace.h).
// Memory is bounded by the run's kernels and processes, a snapshot by the limits that the help of
// each metric states. Thread safety: none; a snapshot may be read by any thread.
#ifndef UTLZ_COLLECTOR_METRICS_RUN_METRICS_H_
#define UTLZ_COLLECTOR_METRICS_RUN_METRICS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "collector/metrics/application_history.h"
#include "collector/metrics/device_history.h"
#include "collector/metrics/growing_count.h"
#include "collector/metrics/job_progress.h"
#include "collector/metrics/metrics_snapshot.h"
#include "collector/metrics/places.h"
#include "collector/metrics/process_history.h"
#include "collector/metrics/process_ledger.h"
#include "collector/metrics/process_progress.h"
#include "collector/metrics/time_ledger.h"
#include "collector/metrics/work_ledger.h"
#include "collector/metrics/worth_table.h"
#include "collector/run/run_state.h"

namespace utlz {

// What the collector knows of itself at that moment.
struct CollectorCost {
  double cpu_seconds = 0;
  double snapshot_cpu_seconds = 0;  // of it
  double time_seconds = 0;          // since 1970
};

class RunMetrics {
 public:
  explicit RunMetrics(PlaceFinders finders = {}) : finders_(std::move(finders)) {}

  // `state` as RunIntake::Advance() returns it, here and below. What launches from now on are
  // worth.
  void RenewWorth(const RunState& run_state);
  // How many steps the job has done by now.
  void RenewSteps(const RunState& run_state);
  // Counts launches since the last snapshot by the worth of the last renewal. Launches of kernels
  // that it did not know count after the next renewal.
  MetricsSnapshot Take(const RunState& run_state, const CollectorCost& cost);

  // What the last snapshot rests on.
  const WorkLedger& work() const { return work_; }
  // Up to which the kernels of a GPU are known; 0 before any is.
  uint64_t KnownNs(uint32_t device) const;
  // Of the last seconds, as a share.
  std::optional<double> NvmlBusy(uint32_t device) const;
  std::optional<double> LastStepSeconds() const { return progress_.LastStepSeconds(); }
  // Those that every metric has.
  Labels HostLabels(const RunState& run_state) {
    return LabelsOf(run_state, std::nullopt, std::nullopt);
  }

 private:
  void Update(const RunState& run_state);
  void AddWork(const RunState& run_state, MetricsSnapshot* snapshot);
  void AddDevices(const RunState& run_state, MetricsSnapshot* snapshot);
  void AddJob(const RunState& run_state, MetricsSnapshot* snapshot);
  void AddProcesses(const RunState& run_state, MetricsSnapshot* snapshot);
  void AddApplication(const RunState& run_state, MetricsSnapshot* snapshot);
  std::optional<EnergyReading> Energy(const RunState& run_state) const;
  std::optional<double> Mfu(const RunState& run_state) const;
  std::optional<double> ShareOfRoof(const RunState& run_state) const;
  void AddCollector(const RunState& run_state, const CollectorCost& cost,
                    MetricsSnapshot* snapshot);
  // Of the host, and of the device and the process where one is given.
  Labels LabelsOf(const RunState& run_state, std::optional<uint32_t> device,
                  std::optional<uint32_t> source);
  // Processes whose labels a newer one has, such as the program that an exec began: one page must
  // not hold two samples of one series.
  std::set<uint32_t> Superseded(const RunState& run_state);
  Labels DeviceLabels(const RunState& run_state, uint32_t device);
  Labels ProcessLabels(const RunState& run_state, uint32_t source);

  PlaceFinders finders_;
  WorthTable worths_;
  WorkLedger work_;
  TimeLedger time_;
  ProcessLedger processes_;
  JobProgress progress_;
  ProcessProgress process_progress_;
  ProcessHistory process_history_;
  ApplicationHistory application_;
  std::vector<DeviceHistory> history_;
  std::vector<GrowingCount> energy_joules_;
  GrowingCount frames_refused_;
  std::map<uint32_t, DevicePlace> device_places_;
  std::map<uint32_t, ProcessPlace> process_places_;
  std::set<uint32_t> superseded_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_RUN_METRICS_H_
