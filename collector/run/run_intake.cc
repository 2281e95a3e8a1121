#include "collector/run/run_intake.h"

#include <algorithm>
#include <span>
#include <utility>

#include "collector/decode/parse.h"
#include "collector/gpu_uuid.h"
#include "collector/run/untraced_time.h"
#include "collector/run/workload_spec.h"

namespace utlz {
namespace {

// Of at most so many processes, each count of a device's processes looks at all; of more, once in
// so many bytes of frames.
constexpr size_t kFewProcesses = 1024;
constexpr size_t kCountBytes = 64u << 10;

// Frames that may bring records of what ran, or say that a process has got further.
bool MayCompleteRecords(uint16_t type) {
  return type == FRAME_LAUNCHES || type == FRAME_COPIES || type == FRAME_AGENT_STATUS;
}

}  // namespace

RunIntake::RunIntake(const SummaryOptions& options)
    : agent_intake_(&run_state_), delivery_(&run_state_, options.step_kernel) {
  run_state_.options = options;
  run_state_.work = options.work;
  for (const DeviceCeilings& ceilings : options.ceilings) SetCeilings(ceilings);
}

void RunIntake::Consume(uint32_t source, uint16_t type, std::string_view payload) {
  if (!Take(source, type, payload)) ++run_state_.frames_refused;
}

bool RunIntake::Take(uint32_t source, uint16_t type, std::string_view payload) {
  if (payload.size() > INT32_MAX) return false;
  if (type == FRAME_PADDING) return true;
  bytes_since_count_ += payload.size();
  // What only the collector or the sampler can say, no target may say for them.
  if (type >= FRAME_METRIC_SET && source != 0) return false;
  if (type >= FRAME_RUN_START) return TakeFromCollector(type, payload);
  if (type >= FRAME_METRIC_SET) return TakeFromSampler(type, payload);
  return TakeFromAgent(source, type, payload);
}

bool RunIntake::TakeFromAgent(uint32_t source, uint16_t type, std::string_view payload) {
  ProcessState* process = run_state_.processes.Get(source);
  if (process == nullptr) return false;
  process->wire_bytes += payload.size();
  delivery_.CountBytes(payload.size());
  const bool taken = agent_intake_.Take(type, payload, process);
  run_state_.processes.Advanced(*process);
  if (taken && MayCompleteRecords(type)) delivery_.ReleaseFull();
  return taken;
}

bool RunIntake::TakeFromSampler(uint16_t type, std::string_view payload) {
  const bool taken = sampler_intake_.Consume(type, payload, &run_state_.devices);
  for (uint32_t i = 0; i < run_state_.devices.size(); ++i) {
    DeviceState& device = run_state_.devices[i];
    if (const auto counted = std::exchange(device.compute_processes, std::nullopt)) {
      CountOtherProcesses(i, *counted);
    }
  }
  return taken;
}

// NVML sees a context before its process has reported it: only who is there twice in a row
// counts.
void RunIntake::CountOtherProcesses(uint32_t index, uint32_t counted) {
  if (run_state_.processes.processes().size() > kFewProcesses) {
    if (bytes_since_count_ < kCountBytes) return;
    bytes_since_count_ = 0;
  }
  uint32_t ours = 0;
  for (const auto& [source, process] : run_state_.processes.processes()) {
    ours += process->live() && Uses(*process, index) ? 1 : 0;
  }
  DeviceState& device = run_state_.devices[index];
  const uint32_t others = counted - std::min(counted, ours);
  const uint32_t before = std::exchange(device.last_other_processes, others);
  device.other_processes = std::max(device.other_processes, std::min(others, before));
}

bool RunIntake::TakeFromCollector(uint16_t type, std::string_view payload) {
  if (type == FRAME_RUN_START) {
    RunStart message;
    if (!Parse(payload, &message)) return false;
    run_state_.run_start = std::move(message);
    run_state_.work =
        JoinWorkloadSpec(run_state_.run_start->workload_spec(), run_state_.options.work);
  } else if (type == FRAME_DEVICE_CEILINGS) {
    DeviceCeilings message;
    if (!Parse(payload, &message, kMaxKeptBytes) || !SetCeilings(message)) return false;
  } else if (type == FRAME_ALARM) {
    Alarm message;
    if (!Parse(payload, &message, kMaxKeptBytes) || !run_state_.alarms.Add(message)) return false;
  } else if (type == FRAME_APPLICATION) {
    ApplicationReading message;
    if (!Parse(payload, &message, kMaxKeptBytes) || !run_state_.application.Add(message))
      return false;
  } else if (type == FRAME_KERNEL_CODE) {
    return TakeKernelCode(payload);
  } else if (type == FRAME_RUN_END) {
    RunEnd message;
    if (!Parse(payload, &message)) return false;
    run_state_.run_end = std::move(message);
    EndOfInput();
  }
  return true;
}

bool RunIntake::TakeKernelCode(std::string_view payload) {
  KernelCodeRecord message;
  if (!Parse(payload, &message) || message.mangled_name().size() > KernelTable::kMaxNameBytes) {
    return false;
  }
  const std::span words(message.words().data(), static_cast<size_t>(message.words_size()));
  return run_state_.kernel_code.Add(message.mangled_name(), message.compute_capability(), words);
}

bool RunIntake::SetCeilings(const DeviceCeilings& ceilings) {
  const auto uuid = ParseGpuUuid(ceilings.uuid());
  const auto device = uuid.has_value() ? run_state_.devices.Find(*uuid) : std::nullopt;
  if (!device.has_value()) return false;
  run_state_.devices[*device].measured = ceilings;
  return true;
}

void RunIntake::EndOfInput() {
  if (!ended_) AddUntracedTails(&run_state_);
  ended_ = true;
  delivery_.ReleaseAll();
}

const RunState& RunIntake::Advance() {
  delivery_.Advance();
  return run_state_;
}

}  // namespace utlz
