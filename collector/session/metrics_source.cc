#include "collector/session/metrics_source.h"

#include "collector/session/realtime_clock.h"
#include "collector/session/thread_time.h"

namespace utlz {
namespace {

constexpr double kSecondsPerNs = 1e-9;

}  // namespace

void MetricsSource::Publish(RunRecorder* recorder, uint64_t monotonic_ns,
                            uint64_t collector_cpu_ns) {
  if (!publish_) return;
  const ModelState& model = recorder->Advance();
  if (monotonic_ns == 0 || worth_pace_.Due(monotonic_ns)) RenewWorth(model, monotonic_ns);
  const uint64_t cpu_before_ns = ThreadCpuNs();
  const CollectorCost cost{.cpu_seconds = static_cast<double>(collector_cpu_ns) * kSecondsPerNs,
                           .snapshot_cpu_seconds = static_cast<double>(cost_ns_) * kSecondsPerNs,
                           .time_seconds = static_cast<double>(RealtimeNs()) * kSecondsPerNs};
  publish_(metrics_.Take(model, cost));
  const uint64_t spent_ns = ThreadCpuNs() - cpu_before_ns;
  cost_ns_ += spent_ns;
  pace_.Made(monotonic_ns, spent_ns);
}

void MetricsSource::RenewWorth(const ModelState& model, uint64_t monotonic_ns) {
  const uint64_t cpu_before_ns = ThreadCpuNs();
  metrics_.RenewWorth(model);
  const uint64_t spent_ns = ThreadCpuNs() - cpu_before_ns;
  cost_ns_ += spent_ns;
  worth_pace_.Renewed(monotonic_ns, spent_ns);
}

}  // namespace utlz
