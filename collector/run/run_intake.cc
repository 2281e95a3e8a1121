#include "collector/run/run_intake.h"

#include <algorithm>
#include <utility>

#include "collector/decode/copy_decoder.h"
#include "collector/decode/parse.h"
#include "collector/run/launch_intake.h"
#include "collector/run/launch_plausibility.h"
#include "collector/run/run_reach.h"
#include "collector/run/run_state.h"
#include "collector/run/sampler_intake.h"
#include "collector/run/step_kernel.h"
#include "collector/run/untraced_time.h"
#include "collector/run/workload_spec.h"

namespace utlz {
namespace {

// Records of one process come unordered by about this much.
constexpr uint64_t kWatermarkSlackNs = 3'000'000'000;
// Activities held by a device before a look at the watermark is worth its cost, and bytes of frames
// between two looks where each would cost much: of many processes, or of a device that holds many.
constexpr size_t kReleaseBatch = 65536;
constexpr size_t kReleaseBytes = 64u << 10;
// All of which are looked at for each count of a device's processes, and for each release; more
// only now and then.
constexpr size_t kFewProcesses = 1024;
// Held by all devices together.
constexpr size_t kMostHeld = 8 * ActivitySorter::kDefaultMaximumHeld;

}  // namespace

class RunIntake::State {
 public:
  explicit State(const SummaryOptions& options) : step_kernel_(options.step_kernel) {
    run_state_.options = options;
    run_state_.work = options.work;
    for (const DeviceCeilings& ceilings : options.ceilings) SetCeilings(ceilings);
  }

  bool Consume(uint32_t source, uint16_t type, std::string_view payload);
  void Advance();
  void EndOfInput();

  RunState& run_state() { return run_state_; }

 private:
  bool ConsumeFromCollector(uint16_t type, std::string_view payload);
  bool ConsumeFromSampler(uint16_t type, std::string_view payload);
  void CountOtherProcesses(uint32_t index, uint32_t counted);
  bool SetCeilings(const DeviceCeilings& ceilings);
  bool ConsumeFromAgent(ProcessState* process, uint16_t type, std::string_view payload);
  bool ConsumeProcess(ProcessState* process, std::string_view payload);
  bool ConsumeDevice(ProcessState* process, std::string_view payload);
  bool ConsumeContext(ProcessState* process, std::string_view payload);
  bool ConsumeLaunches(ProcessState* process, std::string_view payload);
  bool ConsumeCopies(ProcessState* process, std::string_view payload);
  bool ConsumeMarkers(ProcessState* process, std::string_view payload);
  bool ConsumeLaunchCalls(ProcessState* process, std::string_view payload);
  bool ConsumeCommunicationCalls(ProcessState* process, std::string_view payload);
  bool ConsumeTraceWindow(ProcessState* process, std::string_view payload);
  bool ConsumeRanges(ProcessState* process, std::string_view payload);
  bool ConsumeStatus(ProcessState* process, std::string_view payload);
  bool ConsumePoolMemory(ProcessState* process, std::string_view payload);
  bool ConsumeEnd(ProcessState* process, std::string_view payload);

  void AddOrderedLaunch(const Activity& activity, DeviceState* device);
  void ReleaseAfter(const ProcessState& process);
  void Release(bool everything);
  void ReleaseHalfOfEach();
  void ReleaseDevice(uint32_t index, uint64_t watermark_ns);

  RunState run_state_;
  StepKernel step_kernel_;
  LaunchIntake launch_intake_;
  DecodedCopies copies_;
  SamplerIntake sampler_intake_;
  size_t bytes_since_look_ = 0;
  size_t bytes_since_count_ = 0;
  bool ended_ = false;
};

bool RunIntake::State::Consume(uint32_t source, uint16_t type, std::string_view payload) {
  if (payload.size() > INT32_MAX) return false;
  if (type == FRAME_PADDING) return true;
  bytes_since_count_ += payload.size();
  // What only the collector or the sampler can say, no target may say for them.
  if (type >= FRAME_METRIC_SET && source != 0) return false;
  if (type >= FRAME_RUN_START) return ConsumeFromCollector(type, payload);
  if (type >= FRAME_METRIC_SET) return ConsumeFromSampler(type, payload);
  ProcessState* process = run_state_.processes.Get(source);
  if (process == nullptr) return false;
  process->wire_bytes += payload.size();
  bytes_since_look_ += payload.size();
  const bool taken = ConsumeFromAgent(process, type, payload);
  run_state_.processes.Advanced(*process);
  return taken;
}

bool RunIntake::State::ConsumeFromSampler(uint16_t type, std::string_view payload) {
  const bool taken = sampler_intake_.Consume(type, payload, &run_state_.devices);
  for (uint32_t i = 0; i < run_state_.devices.size(); ++i) {
    DeviceState& device = run_state_.devices[i];
    if (const auto counted = std::exchange(device.compute_processes, std::nullopt)) {
      CountOtherProcesses(i, *counted);
    }
  }
  return taken;
}

// NVML sees a context before its process has told of it: only who is there twice in a row counts.
void RunIntake::State::CountOtherProcesses(uint32_t index, uint32_t counted) {
  if (run_state_.processes.processes().size() > kFewProcesses) {
    if (bytes_since_count_ < kReleaseBytes) return;
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

bool RunIntake::State::ConsumeFromCollector(uint16_t type, std::string_view payload) {
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
  } else if (type == FRAME_RUN_END) {
    RunEnd message;
    if (!Parse(payload, &message)) return false;
    run_state_.run_end = std::move(message);
    EndOfInput();
  }
  return true;
}

bool RunIntake::State::SetCeilings(const DeviceCeilings& ceilings) {
  const auto uuid = ParseUuid(ceilings.uuid());
  const auto device = uuid.has_value() ? run_state_.devices.Find(*uuid) : std::nullopt;
  if (!device.has_value()) return false;
  run_state_.devices[*device].measured = ceilings;
  return true;
}

bool RunIntake::State::ConsumeFromAgent(ProcessState* process, uint16_t type,
                                        std::string_view payload) {
  switch (type) {
    case FRAME_PROCESS:
      return ConsumeProcess(process, payload);
    case FRAME_DEVICE:
      return ConsumeDevice(process, payload);
    case FRAME_CONTEXT:
      return ConsumeContext(process, payload);
    case FRAME_STRINGS: {
      Strings message;
      return Parse(payload, &message) && run_state_.processes.AddStrings(process, message);
    }
    case FRAME_VARIANTS: {
      Variants message;
      return Parse(payload, &message) && run_state_.processes.AddVariants(process, message);
    }
    case FRAME_STACKS: {
      Stacks message;
      return Parse(payload, &message) && run_state_.stacks.Add(process, message);
    }
    case FRAME_LAUNCHES:
      return ConsumeLaunches(process, payload);
    case FRAME_COPIES:
      return ConsumeCopies(process, payload);
    case FRAME_MARKERS:
      return ConsumeMarkers(process, payload);
    case FRAME_LAUNCH_CALLS:
      return ConsumeLaunchCalls(process, payload);
    case FRAME_COMMUNICATION_CALLS:
      return ConsumeCommunicationCalls(process, payload);
    case FRAME_TRACE_WINDOW:
      return ConsumeTraceWindow(process, payload);
    case FRAME_RANGES:
      return ConsumeRanges(process, payload);
    case FRAME_AGENT_STATUS:
      return ConsumeStatus(process, payload);
    case FRAME_PROCESS_END:
      return ConsumeEnd(process, payload);
    case FRAME_POOL_MEMORY:
      return ConsumePoolMemory(process, payload);
    default:
      return true;
  }
}

bool RunIntake::State::ConsumeProcess(ProcessState* process, std::string_view payload) {
  Process message;
  if (!Parse(payload, &message, kMaxKeptBytes) ||
      !run_state_.memory->Keep(std::move(message), &process->info)) {
    return false;
  }
  process->newest_ns = std::max(process->newest_ns, process->info.start_time_ns());
  return true;
}

bool RunIntake::State::ConsumeDevice(ProcessState* process, std::string_view payload) {
  Device message;
  if (!Parse(payload, &message, kMaxKeptBytes)) return false;
  const auto index = run_state_.devices.Find(message.uuid());
  if (!index.has_value() || process->device_by_ordinal.size() > DeviceTable::kMaxDevices) {
    return false;
  }
  process->device_by_ordinal[message.ordinal()] = *index;
  DeviceState& device = run_state_.devices[*index];
  device.mps = device.mps || message.mps();
  device.info = std::move(message);
  return true;
}

bool RunIntake::State::ConsumeContext(ProcessState* process, std::string_view payload) {
  Context message;
  if (!Parse(payload, &message) || !run_state_.processes.AddContext(process, message)) return false;
  const auto device = process->device_by_ordinal.find(message.device_ordinal());
  if (device != process->device_by_ordinal.end()) run_state_.devices[device->second].used = true;
  return true;
}

bool RunIntake::State::ConsumeLaunches(ProcessState* process, std::string_view payload) {
  if (!launch_intake_.Take(payload, process, &run_state_)) return false;
  ReleaseAfter(*process);
  return true;
}

bool RunIntake::State::ConsumeCopies(ProcessState* process, std::string_view payload) {
  if (!DecodeCopies(payload, &copies_)) return false;
  process->copies_untimed += copies_.untimed;
  for (const Copy& copy : copies_.copies) {
    const auto index = run_state_.DeviceOf(*process, copy.context);
    if (!index.has_value()) continue;
    DeviceState& device = run_state_.devices[*index];
    device.used = true;
    if (!IsOfThisRun(copy.start_ns, copy.end_ns, run_state_.ReachOf(*process))) {
      ++process->copies_untimed;
      ++process->copies_implausible;
      continue;
    }
    device.copies.Add(copy);
    if (!copy.of_graph) process->windows.CountOperations(process->windows.PlaceOf(copy.start_ns));
    process->newest_ns = std::max(process->newest_ns, copy.end_ns);
    if (!OnDevice(copy.kind)) continue;
    device.queue.Add({.start_ns = copy.start_ns,
                      .end_ns = copy.end_ns,
                      .kernel = kNoKernel,
                      .stream = copy.stream,
                      .context = copy.context,
                      .source = static_cast<uint16_t>(process->source),
                      .kind = KindOfCopy(copy.kind, copy.pageable),
                      .begins_launch = !copy.of_graph});
  }
  ReleaseAfter(*process);
  return true;
}

bool RunIntake::State::ConsumeMarkers(ProcessState* process, std::string_view payload) {
  MarkerBatch message;
  if (!Parse(payload, &message)) return false;
  return run_state_.markers.Add(
      *process, message, [&](const MarkerRange& range, MarkerCount* count) {
        run_state_.step_marks.Add(process->source, range.name, range.start_ns, range.end_ns);
        const bool is_mark = range.start_ns == range.end_ns;
        if (count == nullptr || is_mark) return;
        run_state_.correlator.AddRange(process->source, range.thread, range.start_ns, range.end_ns,
                                       &count->kernels);
      });
}

bool RunIntake::State::ConsumeLaunchCalls(ProcessState* process, std::string_view payload) {
  LaunchCallBatch message;
  return Parse(payload, &message) && run_state_.correlator.AddCalls(process->source, message);
}

bool RunIntake::State::ConsumeCommunicationCalls(ProcessState* process, std::string_view payload) {
  CommunicationCallBatch message;
  return Parse(payload, &message) &&
         run_state_.collective_sizes.Add(*process, message, &run_state_.correlator);
}

// Time between two windows of a process is unknown on every device that it uses.
bool RunIntake::State::ConsumeTraceWindow(ProcessState* process, std::string_view payload) {
  TraceWindow message;
  if (!Parse(payload, &message)) return false;
  run_state_.processes.AddWindow(process, message);
  if (const auto gap = process->coverage.Add(message)) AddUntraced(*process, *gap, &run_state_);
  return true;
}

bool RunIntake::State::ConsumeRanges(ProcessState* process, std::string_view payload) {
  RangeBatch message;
  if (!Parse(payload, &message) || message.metric_size() > kMaxMetrics) return false;
  // An agent that found no moment for ranges says so by a batch without any.
  if (message.ranges_size() == 0) return run_state_.ranges.Add(process->source, 0, message);
  const auto device = run_state_.DeviceOf(*process, message.ranges(0).context());
  if (!device.has_value() || !run_state_.ranges.Add(process->source, *device, message))
    return false;
  run_state_.devices[*device].calibration_stalls.Add(message);
  return true;
}

bool RunIntake::State::ConsumeStatus(ProcessState* process, std::string_view payload) {
  AgentStatus message;
  if (!Parse(payload, &message, kMaxKeptBytes)) return false;
  process->windows.AddStatus(message);
  if (!run_state_.memory->Keep(std::move(message), &process->status)) return false;
  process->has_status = true;
  process->newest_ns = std::max(process->newest_ns, process->status.time_ns());
  if (process->newest_ns > kWatermarkSlackNs) {
    const uint64_t settled_ns = process->newest_ns - kWatermarkSlackNs;
    run_state_.correlator.Settle(process->source, settled_ns);
    run_state_.collective_sizes.Settle(process->source, settled_ns, run_state_.kernels);
  }
  ReleaseAfter(*process);
  return true;
}

bool RunIntake::State::ConsumePoolMemory(ProcessState* process, std::string_view payload) {
  PoolMemory message;
  if (!Parse(payload, &message)) return false;
  const auto device = process->device_by_ordinal.find(message.device_ordinal());
  if (device != process->device_by_ordinal.end()) {
    run_state_.devices[device->second].pools.Add(process->source, message);
  }
  return true;
}

bool RunIntake::State::ConsumeEnd(ProcessState* process, std::string_view payload) {
  ProcessEnd message;
  if (!Parse(payload, &message, kMaxKeptBytes)) return false;
  if (!process->end.has_value()) process->end.emplace();
  if (!run_state_.memory->Keep(std::move(message), &*process->end)) return false;
  AddLostTail(*process, &run_state_);
  for (const auto& [ordinal, device] : process->device_by_ordinal) {
    run_state_.devices[device].pools.End(process->source);
  }
  run_state_.processes.ForgetNames(process);
  return true;
}

void RunIntake::State::AddOrderedLaunch(const Activity& activity, DeviceState* device) {
  // What was counted then is of no kernel that could be named.
  if (const auto shared = device->overlap.Add(activity)) {
    device->attribution.AddUntraced(shared->start_ns, shared->end_ns);
  }
  const bool communication = activity.kind == ActivityKind::kCommunication;
  run_state_.collective_order.Add(activity.source, activity.kernel, communication);
  if (!communication) return;
  device->exposed.AddLaunch(activity);
  run_state_.arrivals.Add(activity.source, activity.start_ns, activity.end_ns);
}

void RunIntake::State::ReleaseDevice(uint32_t index, uint64_t watermark_ns) {
  DeviceState& device = run_state_.devices[index];
  uint64_t reached_ns = 0;
  for (const Activity& activity : device.queue.Release(watermark_ns, &reached_ns)) {
    device.sweep.Add(activity);
    device.gap_sites.Add(activity);
    device.idle_by_stack.Add(activity);
    device.ledger.AddStart(activity);
    if (activity.kernel != kNoKernel) AddOrderedLaunch(activity, &device);
    device.steps.Add(activity);
    device.returns.Add(activity);
    if (step_kernel_.Marks(activity.kernel, run_state_.kernels)) {
      device.named_steps.Add(activity.start_ns);
    }
    device.kernel_series.Add(activity);
    device.attribution.AddActivity(activity);
    run_state_.ranges.AddActivity(index, activity);
  }
  device.released_until_ns = std::max(device.released_until_ns, reached_ns);
  device.sweep.AdvanceTo(device.released_until_ns);
  UpdateUntracedTime(index, &run_state_);
  device.attribution.AdvanceTo(device.released_until_ns);
  run_state_.ranges.AdvanceTo(index, device.released_until_ns);
}

void RunIntake::State::ReleaseAfter(const ProcessState& process) {
  run_state_.processes.Advanced(process);
  Release(false);
}

void RunIntake::State::Release(bool everything) {
  if (everything) {
    run_state_.correlator.SettleAll();
    run_state_.collective_sizes.SettleAll(run_state_.kernels);
  }
  const bool look = everything || bytes_since_look_ >= kReleaseBytes;
  if (look) bytes_since_look_ = 0;
  const bool few_processes = run_state_.processes.processes().size() <= kFewProcesses;
  const uint64_t watermark_ns =
      everything ? UINT64_MAX : run_state_.processes.WatermarkNs(kWatermarkSlackNs);
  size_t held = 0;
  for (uint32_t i = 0; i < run_state_.devices.size(); ++i) {
    const ActivitySorter& queue = run_state_.devices[i].queue;
    const bool is_cheap = few_processes && queue.held() < 4 * kReleaseBatch;
    if (everything || queue.full() || (queue.held() >= kReleaseBatch && (look || is_cheap))) {
      ReleaseDevice(i, watermark_ns);
    }
    held += queue.held();
  }
  if (held >= kMostHeld) ReleaseHalfOfEach();
}

// Whatever the watermark says: there are too many devices for each to fill its own queue.
void RunIntake::State::ReleaseHalfOfEach() {
  for (uint32_t i = 0; i < run_state_.devices.size(); ++i) {
    const ActivitySorter& queue = run_state_.devices[i].queue;
    if (queue.held() > 0) ReleaseDevice(i, queue.MiddleNs() + 1);
  }
}

void RunIntake::State::EndOfInput() {
  if (!ended_) AddUntracedTails(&run_state_);
  ended_ = true;
  Release(true);
}

void RunIntake::State::Advance() {
  const uint64_t watermark_ns = run_state_.processes.WatermarkNs(kWatermarkSlackNs);
  for (uint32_t i = 0; i < run_state_.devices.size(); ++i) ReleaseDevice(i, watermark_ns);
}

RunIntake::RunIntake(const SummaryOptions& options) : state_(std::make_unique<State>(options)) {}
RunIntake::~RunIntake() = default;
RunIntake::RunIntake(RunIntake&&) noexcept = default;
RunIntake& RunIntake::operator=(RunIntake&&) noexcept = default;

void RunIntake::Consume(uint32_t source, uint16_t type, std::string_view payload) {
  if (!state_->Consume(source, type, payload)) ++state_->run_state().frames_refused;
}

uint64_t RunIntake::Launches() const { return state_->run_state().launches; }

const RunState& RunIntake::Advance() {
  state_->Advance();
  return state_->run_state();
}

const RunState& RunIntake::state() const { return state_->run_state(); }

void RunIntake::EndOfInput() { state_->EndOfInput(); }

void RunIntake::CountRefusedFrames(uint64_t frames) {
  state_->run_state().frames_refused += frames;
}

void RunIntake::CountUnreadableBytes(uint64_t bytes) {
  state_->run_state().bytes_unreadable += bytes;
}

}  // namespace utlz
