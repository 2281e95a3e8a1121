#include "tools/top/profile_replay.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "collector/decode/parse.h"
#include "collector/gpu_uuid.h"
#include "proto/profile.pb.h"
#include "tools/attach/target/proc_file.h"

namespace utlz::top {
namespace {

constexpr size_t kMaxCommandBytes = 60;
constexpr uint64_t kReportNs = 1'000'000'000;

// The newest of a column; nothing where it has none, or the reading was missing.
template <typename Column>
std::optional<double> Last(const Column& column) {
  if (column.empty()) return std::nullopt;
  const auto value = static_cast<double>(column[column.size() - 1]);
  return std::isfinite(value) ? std::make_optional(value) : std::nullopt;
}

std::optional<double> Thousandth(const std::optional<double>& value) {
  return value ? std::make_optional(*value / 1e3) : std::nullopt;
}

void TakeTotals(const DeviceTotalsBatch& totals, GpuSnapshot* gpu) {
  gpu->gpu_util_percent = Last(totals.gpu_busy_percent());
  gpu->power_watts = Thousandth(Last(totals.power_milliwatts()));
  gpu->sm_clock_mhz = Last(totals.sm_clock_mhz());
  gpu->memory_clock_mhz = Last(totals.memory_clock_mhz());
  gpu->temperature_celsius = Last(totals.temperature_celsius());
  gpu->sm_active_percent = Last(totals.gpm_sm_active_percent());
  gpu->sm_occupancy_percent = Last(totals.gpm_sm_occupancy_percent());
  gpu->tensor_active_percent = Last(totals.gpm_tensor_active_percent());
  gpu->compute_percent = gpu->tensor_active_percent;
  gpu->dram_active_percent = Last(totals.gpm_dram_active_percent());
  if (gpu->sm_active_percent) gpu->source = ComputeSource::kGpm;
  if (const auto used = Last(totals.memory_used_bytes())) {
    gpu->memory_used_bytes = static_cast<uint64_t>(std::max(0.0, *used));
  }
  if (!totals.clock_limit_reasons().empty()) {
    gpu->clock_limit_reasons = *totals.clock_limit_reasons().rbegin();
  }
}

void TakePeaks(const DevicePeaks& peaks, GpuSnapshot* gpu) {
  gpu->name = attach::PrintableText(peaks.name(), kMaxCommandBytes);
  if (peaks.sm_clock_maximum_hz() > 0) gpu->sm_clock_max_mhz = peaks.sm_clock_maximum_hz() / 1e6;
  if (peaks.memory_bytes() > 0) gpu->memory_total_bytes = peaks.memory_bytes();
}

std::string CommandOf(const Process& process) {
  std::string command;
  for (const std::string& word : process.arguments()) {
    if (command.size() > kMaxCommandBytes) break;
    command += (command.empty() ? "" : " ") + word;
  }
  return attach::PrintableText(command, kMaxCommandBytes);
}

}  // namespace

absl::StatusOr<ProfileReplay> ProfileReplay::Open(const std::string& path) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path);
  if (!reader.ok()) return reader.status();
  return ProfileReplay(*std::move(reader));
}

void ProfileReplay::Consume(uint16_t type, std::string_view payload) {
  if (type == FRAME_DEVICE_TOTALS) {
    DeviceTotalsBatch totals;
    if (Parse(payload, &totals)) TakeTotals(totals, &gpus_[totals.device_uuid()]);
  } else if (type == FRAME_DEVICE_PEAKS) {
    DevicePeaks peaks;
    if (Parse(payload, &peaks)) TakePeaks(peaks, &gpus_[peaks.device_uuid()]);
  } else if (type == FRAME_RUN_START) {
    RunStart start;
    if (Parse(payload, &start)) start_ns_ = start.time_ns();
  }
}

Snapshot ProfileReplay::Read(uint64_t elapsed_ns) {
  FrameView frame;
  while (!ended_ && (start_ns_ == 0 || intake_->state().NewestNs() < start_ns_ + elapsed_ns)) {
    if (!reader_.Next(&frame)) {
      ended_ = true;
      intake_->EndOfInput();
      break;
    }
    if (frame.type == FRAME_SUMMARY) continue;
    if (frame.source == 0) Consume(frame.type, frame.payload);
    intake_->Consume(frame.source, frame.type, frame.payload);
  }
  const uint64_t now_ns = start_ns_ + elapsed_ns;
  Snapshot snapshot = {.time_ns = now_ns};
  for (const auto& [uuid, gpu] : gpus_) {
    snapshot.gpus.push_back(gpu);
    snapshot.gpus.back().index = static_cast<unsigned>(snapshot.gpus.size() - 1);
    snapshot.gpus.back().uuid = FormatGpuUuid(uuid);
  }
  // As seldom as a collector does it.
  if (elapsed_ns >= next_report_ns_) {
    const RunState& run_state = intake_->Advance();
    report_.RenewWhatIsDue(run_state, elapsed_ns);
    run_ = report_.Take(run_state, now_ns);
    run_.set_accepted(true);
    next_report_ns_ = elapsed_ns + kReportNs;
  }
  snapshot.runs.push_back(run_);
  AddProcesses(now_ns, &snapshot);
  return snapshot;
}

void ProfileReplay::AddProcesses(uint64_t now_ns, Snapshot* snapshot) const {
  const RunState& run_state = intake_->state();
  for (GpuSnapshot& gpu : snapshot->gpus) {
    gpu.processes.emplace();
    for (const auto& [source, state] : run_state.processes.processes()) {
      const Process& info = state->info;
      const std::set<uint32_t> devices = state->DevicesUsed();
      const bool uses = std::any_of(devices.begin(), devices.end(), [&](uint32_t device) {
        return FormatGpuUuid(run_state.devices[device].uuid) == gpu.uuid;
      });
      if (!uses) continue;
      const uint64_t pid = info.host_pid() != 0 ? info.host_pid() : info.pid();
      ProcessSnapshot process = {.pid = static_cast<pid_t>(pid), .command = CommandOf(info)};
      if (info.start_time_ns() != 0 && info.start_time_ns() < now_ns) {
        process.age_seconds = static_cast<double>(now_ns - info.start_time_ns()) * 1e-9;
      }
      gpu.processes->push_back(std::move(process));
    }
  }
}

}  // namespace utlz::top
