#include "bench/alarms/recorded_pace.h"

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "collector/alarms/take_readings.h"
#include "collector/metrics/run_metrics.h"
#include "collector/profile/profile_reader.h"
#include "collector/run/run_intake.h"

namespace utlz {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr size_t kBeginning = 2;
constexpr uint64_t kRenewalNs = 4 * kSecondNs;

double CpuMs() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

PaceStep Between(const Readings& from, const Readings& to) {
  const DeviceReading& a = from.devices[0];
  const DeviceReading& b = to.devices[0];
  return {.time_ns = static_cast<double>(to.processes[0].operations_ns) -
                     static_cast<double>(from.processes[0].operations_ns),
          .kernel_ns = b.kernel_ns - a.kernel_ns,
          .counted_ns = b.counted_ns - a.counted_ns,
          .peak_ns = b.peak_ns - a.peak_ns,
          .operations = to.processes[0].operations - from.processes[0].operations};
}

}  // namespace

absl::StatusOr<RecordedPace> PaceOf(const std::string& profile) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(profile);
  if (!reader.ok()) return reader.status();
  RecordedPace pace;
  RunIntake intake;
  RunMetrics metrics;
  std::optional<Readings> last;
  uint64_t next_ns = 0;
  uint64_t renewal_ns = 0;
  size_t snapshots = 0;
  for (FrameView frame; reader->Next(&frame);) {
    if (frame.type == FRAME_SUMMARY) continue;
    intake.Consume(frame.source, frame.type, frame.payload);
    const uint64_t now_ns = intake.state().NewestNs();
    if (now_ns < next_ns) continue;
    next_ns = now_ns + kSecondNs;
    const RunState& state = intake.Advance();
    if (now_ns >= renewal_ns) {
      const double before_ms = CpuMs();
      metrics.RenewWorth(state);
      metrics.RenewSteps(state);
      pace.renewal_cpu_ms = CpuMs() - before_ms;
      renewal_ns = now_ns + kRenewalNs;
    }
    const double before_ms = CpuMs();
    metrics.Take(state, {});
    pace.snapshot_cpu_ms += CpuMs() - before_ms;
    ++snapshots;
    const Readings readings = TakeReadings(state, metrics);
    if (readings.devices.size() != 1 || readings.processes.empty()) continue;
    if (!last.has_value()) {
      last = readings;
      continue;
    }
    const PaceStep step = Between(*last, readings);
    if (step.time_ns <= 0 || step.operations <= 0) continue;  // it is known later
    if (step.peak_ns > 0) pace.all.push_back(step);
    last = readings;
  }
  // As a job begins its pace is not yet its own.
  pace.all.erase(pace.all.begin(),
                 pace.all.begin() + static_cast<ptrdiff_t>(std::min(kBeginning, pace.all.size())));
  if (snapshots > 0) pace.snapshot_cpu_ms /= static_cast<double>(snapshots);
  return pace;
}

}  // namespace utlz
