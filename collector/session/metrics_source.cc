#include "collector/session/metrics_source.h"

#include <utility>

#include "collector/alarms/take_readings.h"
#include "collector/clocks.h"

namespace utlz {
namespace {

constexpr double kSecondsPerNs = 1e-9;

}  // namespace

std::vector<Alarm> MetricsSource::Publish(RunRecorder* recorder, uint64_t monotonic_ns,
                                          uint64_t collector_cpu_ns) {
  if (recorder->behind()) return {};
  RecordApplication(recorder);
  if (worth_pace_.Due(recorder->state(), monotonic_ns) || steps_pace_.Due(monotonic_ns)) {
    recorder->Study([this, monotonic_ns](const RunState& run_state) {
      RenewWhatIsDue(run_state, monotonic_ns);
    });
    return {};
  }
  const RunState& run_state = recorder->Advance();
  const uint64_t cpu_before_ns = ThreadCpuNs();
  MetricsSnapshot snapshot = Take(run_state, collector_cpu_ns);
  std::vector<Alarm> news;
  if (watches_) {
    news = alarms_.Look(TakeReadings(run_state, metrics_));
    alarms_.AddTo(metrics_.HostLabels(run_state), &snapshot);
  }
  if (publish_) publish_(std::move(snapshot));
  const uint64_t spent_ns = ThreadCpuNs() - cpu_before_ns;
  cost_ns_ += spent_ns;
  pace_.Made(monotonic_ns, spent_ns);
  return news;
}

void MetricsSource::RecordApplication(RunRecorder* recorder) {
  if (!read_application_) return;
  const std::optional<ApplicationReading> reading = read_application_();
  if (!reading.has_value() || reading->time_ns() == application_ns_) return;
  application_ns_ = reading->time_ns();
  recorder->Record(0, FRAME_APPLICATION, reading->SerializeAsString());
}

void MetricsSource::PublishLast(RunRecorder* recorder, uint64_t collector_cpu_ns) {
  if (!publish_) return;
  const RunState& run_state = recorder->Advance();
  metrics_.RenewWorth(run_state);
  metrics_.RenewSteps(run_state);
  MetricsSnapshot snapshot = Take(run_state, collector_cpu_ns);
  if (watches_) alarms_.AddTo(metrics_.HostLabels(run_state), &snapshot);
  publish_(std::move(snapshot));
}

MetricsSnapshot MetricsSource::Take(const RunState& run_state, uint64_t collector_cpu_ns) {
  const CollectorCost cost{.cpu_seconds = static_cast<double>(collector_cpu_ns) * kSecondsPerNs,
                           .snapshot_cpu_seconds = static_cast<double>(cost_ns_) * kSecondsPerNs,
                           .time_seconds = static_cast<double>(RealtimeNs()) * kSecondsPerNs};
  return metrics_.Take(run_state, cost);
}

void MetricsSource::RenewWhatIsDue(const RunState& run_state, uint64_t monotonic_ns) {
  const auto cost_of = [this](auto renew) {
    const uint64_t cpu_before_ns = ThreadCpuNs();
    renew();
    const uint64_t spent_ns = ThreadCpuNs() - cpu_before_ns;
    cost_ns_ += spent_ns;
    return spent_ns;
  };
  if (worth_pace_.Due(run_state, monotonic_ns)) {
    worth_pace_.Renewed(run_state, monotonic_ns, cost_of([&] { metrics_.RenewWorth(run_state); }));
  }
  if (steps_pace_.Due(monotonic_ns)) {
    steps_pace_.Renewed(monotonic_ns, cost_of([&] { metrics_.RenewSteps(run_state); }));
  }
}

}  // namespace utlz
