#include "collector/run/agent_intake.h"

#include <algorithm>
#include <utility>

#include "collector/decode/parse.h"
#include "collector/run/activity_delivery.h"
#include "collector/run/run_reach.h"
#include "collector/run/untraced_time.h"

namespace utlz {

bool AgentIntake::Take(uint16_t type, std::string_view payload, ProcessState* process) {
  switch (type) {
    case FRAME_PROCESS:
      return TakeProcess(process, payload);
    case FRAME_DEVICE:
      return TakeDevice(process, payload);
    case FRAME_CONTEXT:
      return TakeContext(process, payload);
    case FRAME_STACKS: {
      Stacks message;
      return Parse(payload, &message) && state_->stacks.Add(process, message);
    }
    case FRAME_THREAD_STACKS: {
      ThreadStackBatch message;
      return Parse(payload, &message) && state_->thread_stacks.Add(*process, message);
    }
    case FRAME_COMPILED_CODE:
      return TakeCompiledCode(*process, payload);
    case FRAME_LAUNCHES:
      return TakeLaunches(process, payload);
    case FRAME_COPIES:
      return TakeCopies(process, payload);
    case FRAME_MARKERS:
      return TakeMarkers(process, payload);
    case FRAME_LAUNCH_CALLS:
      return TakeLaunchCalls(process, payload);
    case FRAME_COMMUNICATION_CALLS:
      return TakeCommunicationCalls(process, payload);
    case FRAME_TRACE_WINDOW:
      return TakeTraceWindow(process, payload);
    case FRAME_RANGES:
      return TakeRanges(process, payload);
    case FRAME_AGENT_STATUS:
      return TakeStatus(process, payload);
    case FRAME_PROCESS_END:
      return TakeEnd(process, payload);
    case FRAME_POOL_MEMORY:
      return TakePoolMemory(process, payload);
    default:
      return state_->processes.TakeDescription(type, payload, process).value_or(true);
  }
}

bool AgentIntake::TakeProcess(ProcessState* process, std::string_view payload) {
  Process message;
  if (!Parse(payload, &message, kMaxKeptBytes) ||
      !state_->memory->Keep(std::move(message), &process->info)) {
    return false;
  }
  process->newest_ns = std::max(process->newest_ns, process->info.start_time_ns());
  return true;
}

bool AgentIntake::TakeDevice(ProcessState* process, std::string_view payload) {
  Device message;
  if (!Parse(payload, &message, kMaxKeptBytes)) return false;
  const auto index = state_->devices.Find(message.uuid());
  if (!index.has_value() || process->device_by_ordinal.size() > DeviceTable::kMaxDevices) {
    return false;
  }
  process->device_by_ordinal[message.ordinal()] = *index;
  DeviceState& device = state_->devices[*index];
  device.mps = device.mps || message.mps();
  device.info = std::move(message);
  return true;
}

bool AgentIntake::TakeContext(ProcessState* process, std::string_view payload) {
  Context message;
  if (!Parse(payload, &message) || !state_->processes.AddContext(process, message)) return false;
  const auto device = process->device_by_ordinal.find(message.device_ordinal());
  if (device != process->device_by_ordinal.end()) state_->devices[device->second].used = true;
  return true;
}

bool AgentIntake::TakeLaunches(ProcessState* process, std::string_view payload) {
  if (!launch_intake_.Take(payload, process, state_)) return false;
  SettleUntraced(process, state_);
  return true;
}

bool AgentIntake::TakeCopies(ProcessState* process, std::string_view payload) {
  if (!DecodeCopies(payload, &copies_)) return false;
  process->copies_untimed += copies_.untimed;
  for (const Copy& copy : copies_.copies) {
    const auto index = state_->DeviceOf(*process, copy.context);
    if (!index.has_value()) continue;
    DeviceState& device = state_->devices[*index];
    device.used = true;
    const bool is_of_run = IsOfThisRun(copy.start_ns, copy.end_ns, state_->ReachOf(*process));
    process->AddWorkOn(*index, is_of_run ? copy.end_ns : 0);
    if (!is_of_run) {
      ++process->copies_untimed;
      ++process->copies_implausible;
      continue;
    }
    device.OnCopy(copy, process->source);
    process->untraced_work[*index].Add(copy.start_ns, copy.end_ns);
    if (!copy.of_graph) process->windows.CountOperations(process->windows.PlaceOf(copy.start_ns));
    process->newest_ns = std::max(process->newest_ns, copy.end_ns);
    process->worked_ns = std::max(process->worked_ns, copy.end_ns);
  }
  SettleUntraced(process, state_);
  return true;
}

bool AgentIntake::TakeMarkers(ProcessState* process, std::string_view payload) {
  MarkerBatch message;
  if (!Parse(payload, &message)) return false;
  return state_->markers.Add(*process, message, [&](const MarkerRange& range, MarkerCount* count) {
    state_->step_marks.Add(process->source, range.name, range.start_ns, range.end_ns);
    const bool is_mark = range.start_ns == range.end_ns;
    if (count == nullptr || is_mark) return;
    state_->correlator.AddRange(process->source, range.thread, range.start_ns, range.end_ns,
                                &count->kernels);
  });
}

bool AgentIntake::TakeLaunchCalls(ProcessState* process, std::string_view payload) {
  LaunchCallBatch message;
  return Parse(payload, &message) && state_->correlator.AddCalls(process->source, message);
}

bool AgentIntake::TakeCommunicationCalls(ProcessState* process, std::string_view payload) {
  CommunicationCallBatch message;
  return Parse(payload, &message) &&
         state_->collective_sizes.Add(*process, message, &state_->correlator);
}

// Time between two windows of a process is unknown on every device that it uses.
bool AgentIntake::TakeTraceWindow(ProcessState* process, std::string_view payload) {
  TraceWindow message;
  if (!Parse(payload, &message)) return false;
  state_->processes.AddWindow(process, message);
  if (const auto gap = process->coverage.Add(message)) BeginUntraced(*gap, process, state_);
  return true;
}

bool AgentIntake::TakeRanges(ProcessState* process, std::string_view payload) {
  RangeBatch message;
  if (!Parse(payload, &message) || message.metric_size() > kMaxMetrics) return false;
  // An agent that found no moment for ranges says so by a batch without any.
  if (message.ranges_size() == 0) return state_->ranges.Add(process->source, 0, message);
  const auto device = state_->DeviceOf(*process, message.ranges(0).context());
  if (!device.has_value() || !state_->ranges.Add(process->source, *device, message)) return false;
  state_->devices[*device].calibration_stalls.Add(message);
  return true;
}

bool AgentIntake::TakeCompiledCode(const ProcessState& process, std::string_view payload) {
  CompiledCode message;
  return Parse(payload, &message) &&
         state_->compiled_operations.Add(message, [&process](uint32_t id) {
           return id < process.strings.size() ? std::string_view(process.strings[id])
                                              : std::string_view();
         });
}

bool AgentIntake::TakeStatus(ProcessState* process, std::string_view payload) {
  AgentStatus message;
  if (!Parse(payload, &message, kMaxKeptBytes)) return false;
  process->windows.AddStatus(message);
  if (message.operations_numbered() > process->status.operations_numbered()) {
    process->worked_ns = std::max<uint64_t>(process->worked_ns, message.time_ns());
  }
  if (!state_->memory->Keep(std::move(message), &process->status)) return false;
  process->has_status = true;
  process->newest_ns = std::max(process->newest_ns, process->status.time_ns());
  if (process->newest_ns > ActivityDelivery::kWatermarkSlackNs) {
    const uint64_t settled_ns = process->newest_ns - ActivityDelivery::kWatermarkSlackNs;
    state_->correlator.Settle(process->source, settled_ns);
    state_->collective_sizes.Settle(process->source, settled_ns, state_->kernels);
  }
  return true;
}

bool AgentIntake::TakePoolMemory(ProcessState* process, std::string_view payload) {
  PoolMemory message;
  if (!Parse(payload, &message)) return false;
  const auto device = process->device_by_ordinal.find(message.device_ordinal());
  if (device != process->device_by_ordinal.end()) {
    state_->devices[device->second].pools.Add(process->source, message);
  }
  return true;
}

bool AgentIntake::TakeEnd(ProcessState* process, std::string_view payload) {
  ProcessEnd message;
  if (!Parse(payload, &message, kMaxKeptBytes)) return false;
  if (!process->end.has_value()) process->end.emplace();
  if (!state_->memory->Keep(std::move(message), &*process->end)) return false;
  AddLostTail(*process, state_);
  for (const auto& [ordinal, device] : process->device_by_ordinal) {
    state_->devices[device].pools.End(process->source);
  }
  state_->processes.ForgetNames(process);
  return true;
}

}  // namespace utlz
