// Makes snapshots of a run's metrics, as often as their cost allows, and hands them to a function
// that publishes them. Thread safety: none.
#ifndef UTLZ_COLLECTOR_SESSION_METRICS_SOURCE_H_
#define UTLZ_COLLECTOR_SESSION_METRICS_SOURCE_H_

#include <cstdint>
#include <functional>

#include "collector/metrics/run_metrics.h"
#include "collector/metrics/snapshot_pace.h"
#include "collector/metrics/worth_pace.h"
#include "collector/session/run_recorder.h"
#include "collector/session/session_options.h"

namespace utlz {

class MetricsSource {
 public:
  explicit MetricsSource(const SessionOptions& options)
      : metrics_(options.places), publish_(options.publish_metrics) {}

  bool Due(uint64_t monotonic_ns) const { return publish_ && pace_.Due(monotonic_ns); }

  // Where somebody publishes; `collector_cpu_ns` is what the collector's thread took so far. What
  // launches are worth is found out anew where that is due, and at the end of the run, for which
  // `monotonic_ns` is 0.
  void Publish(RunRecorder* recorder, uint64_t monotonic_ns, uint64_t collector_cpu_ns);

 private:
  void RenewWorth(const ModelState& model, uint64_t monotonic_ns);

  RunMetrics metrics_;
  SnapshotPace pace_;
  WorthPace worth_pace_;
  std::function<void(MetricsSnapshot snapshot)> publish_;
  uint64_t cost_ns_ = 0;  // of all snapshots
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_METRICS_SOURCE_H_
