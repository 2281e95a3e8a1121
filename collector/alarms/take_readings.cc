#include "collector/alarms/take_readings.h"

#include <algorithm>
#include <map>
#include <string>

#include "collector/gpu_uuid.h"
#include "collector/kernel_names/kernel_class.h"
#include "collector/kernel_names/kernel_family.h"
#include "collector/windows/window_gaps.h"

namespace utlz {
namespace {

std::string NextCollective(const RunState& run_state, uint32_t source) {
  const auto kernel = run_state.collective_order.NextOf(source);
  if (!kernel.has_value()) return {};
  return std::string(CollectiveOf(run_state.kernels[*kernel].mangled_name));
}

// Windows of a process that is traced are closer together.
constexpr uint64_t kLongestUnseenNs = 30'000'000'000;

std::optional<ServerReading> ReadServer(const RunState& run_state) {
  if (run_state.application.count() == 0) return std::nullopt;
  const ApplicationReading& last = run_state.application.last();
  if (!last.has_waiting() || !(last.has_generated_tokens() || last.has_requests())) {
    return std::nullopt;
  }
  return ServerReading{
      .time_ns = last.time_ns(),
      .waiting = last.waiting(),
      .produced = last.has_generated_tokens() ? last.generated_tokens() : last.requests()};
}

// In windows, and in the gaps between them as far as their number is known.
void CountOperations(const ProcessState& process, uint64_t now_ns, ProcessReading* reading) {
  for (const WindowGaps::Span& span : WindowGaps(process.windows).Spans(now_ns)) {
    if (!span.operations.has_value()) return;
    reading->operations += static_cast<double>(*span.operations);
    reading->operations_ns = std::min(span.end_ns, process.newest_ns);
  }
}

// Statuses come once a second from a process that does nothing, too. What nobody looked at for long
// may have gone on all the while.
uint64_t LastWorkNs(const ProcessState& process, uint64_t now_ns) {
  const std::optional<uint64_t> since_ns = process.coverage.UntracedSinceNs();
  return since_ns.has_value() && *since_ns + kLongestUnseenNs < now_ns ? now_ns : process.worked_ns;
}

ProcessReading ReadProcess(const RunState& run_state, const RunMetrics& metrics,
                           const ProcessState& process, uint32_t device) {
  ProcessReading reading{.source = process.source, .pid = process.info.pid(), .device = device};
  if (process.info.host_pid() != 0) reading.pid = process.info.host_pid();
  if (process.info.has_rank()) reading.rank = process.info.rank();
  const auto work = metrics.work().sums().find({device, process.source});
  if (work != metrics.work().sums().end()) {
    for (int i = 0; i < kKernelFamilies; ++i) {
      const bool communication = static_cast<KernelFamily>(i) == KernelFamily::kCommunication;
      (communication ? reading.communication_ns : reading.compute_ns) +=
          work->second.families[static_cast<size_t>(i)].time_ns;
    }
  }
  CountOperations(process, run_state.NewestNs(), &reading);
  reading.known_ns = metrics.KnownNs(device);
  reading.last_work_ns = LastWorkNs(process, run_state.NewestNs());
  reading.held_since_ns = process.info.start_time_ns();
  reading.next_collective = NextCollective(run_state, process.source);
  return reading;
}

}  // namespace

Readings TakeReadings(const RunState& run_state, const RunMetrics& metrics) {
  Readings readings;
  readings.now_ns = run_state.NewestNs();
  std::map<uint32_t, uint32_t> place_of_device;  // in the readings
  const auto place = [&](uint32_t device) {
    const auto [found, is_new] =
        place_of_device.emplace(device, static_cast<uint32_t>(readings.devices.size()));
    if (!is_new) return found->second;
    DeviceReading reading{.uuid = FormatGpuUuid(run_state.devices[device].uuid)};
    if (device < metrics.work().devices().size()) {
      const DeviceWork& work = metrics.work().devices()[device];
      reading.kernel_ns = work.kernel_ns;
      reading.counted_ns = work.counted_ns;
      reading.peak_ns = work.peak_ns;
    }
    reading.known_ns = metrics.KnownNs(device);
    reading.busy = metrics.NvmlBusy(device);
    readings.devices.push_back(std::move(reading));
    return found->second;
  };
  for (const auto& [source, process] : run_state.processes.processes()) {
    if (!process->live()) continue;
    for (const uint32_t device : process->DevicesUsed()) {
      ProcessReading reading = ReadProcess(run_state, metrics, *process, device);
      reading.device = place(device);
      readings.processes.push_back(std::move(reading));
    }
  }
  readings.server = ReadServer(run_state);
  readings.step_seconds = metrics.LastStepSeconds();
  return readings;
}

}  // namespace utlz
