// Makes snapshots of a run's metrics, as often as their cost allows, hands them to a function that
// publishes them, and looks for alarms in them. What takes long is left to a study of the recorder,
// which ends before this. Thread safety: none.
#ifndef UTLZ_COLLECTOR_SESSION_METRICS_SOURCE_H_
#define UTLZ_COLLECTOR_SESSION_METRICS_SOURCE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "collector/alarms/alarm_watch.h"
#include "collector/metrics/renewal_pace.h"
#include "collector/metrics/run_metrics.h"
#include "collector/metrics/snapshot_pace.h"
#include "collector/metrics/worth_pace.h"
#include "collector/session/run_recorder.h"
#include "collector/session/session_options.h"

namespace utlz {

class MetricsSource {
 public:
  explicit MetricsSource(const SessionOptions& options)
      : metrics_(options.places),
        publish_(options.publish_metrics),
        read_application_(options.read_application),
        watches_(options.report_alarm != nullptr) {}

  bool Due(uint64_t monotonic_ns) const { return wanted() && pace_.Due(monotonic_ns); }

  // `collector_cpu_ns` is what the collector's thread took so far. What launches are worth, and the
  // job's steps, are found out anew where that is due. Returns alarms that are raised or over since
  // the last time. Where something is to be found out anew, that begins instead, and the snapshot
  // is made at the next call after it is over.
  std::vector<Alarm> Publish(RunRecorder* recorder, uint64_t monotonic_ns,
                             uint64_t collector_cpu_ns);
  // The same at the end of the run, when nothing raises an alarm any more.
  void PublishLast(RunRecorder* recorder, uint64_t collector_cpu_ns);

 private:
  bool wanted() const { return publish_ || watches_ || read_application_; }
  void RecordApplication(RunRecorder* recorder);
  MetricsSnapshot Take(const RunState& run_state, uint64_t collector_cpu_ns);
  void RenewWhatIsDue(const RunState& run_state, uint64_t monotonic_ns);

  RunMetrics metrics_;
  SnapshotPace pace_;
  WorthPace worth_pace_;
  RenewalPace steps_pace_;
  std::function<void(MetricsSnapshot snapshot)> publish_;
  std::function<std::optional<ApplicationReading>()> read_application_;
  uint64_t application_ns_ = 0;  // of the last reading
  bool watches_;
  AlarmWatch alarms_;
  uint64_t cost_ns_ = 0;  // of all snapshots
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_METRICS_SOURCE_H_
