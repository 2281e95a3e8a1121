#include "collector/run/run_model.h"

#include <algorithm>
#include <utility>

#include "collector/decode/copy_decoder.h"
#include "collector/decode/parse.h"
#include "collector/run/launch_intake.h"
#include "collector/run/launch_plausibility.h"
#include "collector/run/model_state.h"
#include "collector/run/model_work.h"
#include "collector/run/run_reach.h"
#include "collector/run/sampler_intake.h"
#include "collector/run/step_kernel.h"
#include "collector/run/untraced_time.h"

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
constexpr size_t kMostHeld = 8 * ActivityQueue::kDefaultMaximumHeld;

}  // namespace

class RunModel::State {
 public:
  explicit State(const ModelOptions& options) : step_kernel_(options.step_kernel) {
    model_.options = options;
    model_.work = options.work;
    for (const DeviceCeilings& ceilings : options.ceilings) SetCeilings(ceilings);
  }

  bool Consume(uint32_t source, uint16_t type, std::string_view payload);
  void Advance();
  void EndOfInput();

  ModelState& model() { return model_; }

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

  ModelState model_;
  StepKernel step_kernel_;
  LaunchIntake launch_intake_;
  DecodedCopies copies_;
  SamplerIntake sampler_intake_;
  size_t bytes_since_look_ = 0;
  size_t bytes_since_count_ = 0;
  bool ended_ = false;
};

bool RunModel::State::Consume(uint32_t source, uint16_t type, std::string_view payload) {
  if (payload.size() > INT32_MAX) return false;
  if (type == FRAME_PADDING) return true;
  bytes_since_count_ += payload.size();
  // What only the collector or the sampler can say, no target may say for them.
  if (type >= FRAME_METRIC_SET && source != 0) return false;
  if (type >= FRAME_RUN_START) return ConsumeFromCollector(type, payload);
  if (type >= FRAME_METRIC_SET) return ConsumeFromSampler(type, payload);
  ProcessState* process = model_.processes.Get(source);
  if (process == nullptr) return false;
  process->wire_bytes += payload.size();
  bytes_since_look_ += payload.size();
  const bool taken = ConsumeFromAgent(process, type, payload);
  model_.processes.Advanced(*process);
  return taken;
}

bool RunModel::State::ConsumeFromSampler(uint16_t type, std::string_view payload) {
  const bool taken = sampler_intake_.Consume(type, payload, &model_.devices);
  for (uint32_t i = 0; i < model_.devices.size(); ++i) {
    DeviceState& device = model_.devices[i];
    if (const auto counted = std::exchange(device.compute_processes, std::nullopt)) {
      CountOtherProcesses(i, *counted);
    }
  }
  return taken;
}

// NVML sees a context before its process has told of it: only who is there twice in a row counts.
void RunModel::State::CountOtherProcesses(uint32_t index, uint32_t counted) {
  if (model_.processes.processes().size() > kFewProcesses) {
    if (bytes_since_count_ < kReleaseBytes) return;
    bytes_since_count_ = 0;
  }
  uint32_t ours = 0;
  for (const auto& [source, process] : model_.processes.processes()) {
    ours += process->live() && Uses(*process, index) ? 1 : 0;
  }
  DeviceState& device = model_.devices[index];
  const uint32_t others = counted - std::min(counted, ours);
  const uint32_t before = std::exchange(device.last_other_processes, others);
  device.other_processes = std::max(device.other_processes, std::min(others, before));
}

bool RunModel::State::ConsumeFromCollector(uint16_t type, std::string_view payload) {
  if (type == FRAME_RUN_START) {
    RunStart message;
    if (!Parse(payload, &message)) return false;
    model_.run_start = std::move(message);
    model_.work = JoinModelWork(model_.run_start->model_work(), model_.options.work);
  } else if (type == FRAME_DEVICE_CEILINGS) {
    DeviceCeilings message;
    if (!Parse(payload, &message, kMaxKeptBytes) || !SetCeilings(message)) return false;
  } else if (type == FRAME_ALARM) {
    Alarm message;
    if (!Parse(payload, &message, kMaxKeptBytes) || !model_.alarms.Add(message)) return false;
  } else if (type == FRAME_APPLICATION) {
    ApplicationReading message;
    if (!Parse(payload, &message, kMaxKeptBytes) || !model_.application.Add(message)) return false;
  } else if (type == FRAME_RUN_END) {
    RunEnd message;
    if (!Parse(payload, &message)) return false;
    model_.run_end = std::move(message);
    EndOfInput();
  }
  return true;
}

bool RunModel::State::SetCeilings(const DeviceCeilings& ceilings) {
  const auto uuid = ParseUuid(ceilings.uuid());
  const auto device = uuid.has_value() ? model_.devices.Find(*uuid) : std::nullopt;
  if (!device.has_value()) return false;
  model_.devices[*device].measured = ceilings;
  return true;
}

bool RunModel::State::ConsumeFromAgent(ProcessState* process, uint16_t type,
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
      return Parse(payload, &message) && model_.processes.AddStrings(process, message);
    }
    case FRAME_VARIANTS: {
      Variants message;
      return Parse(payload, &message) && model_.processes.AddVariants(process, message);
    }
    case FRAME_STACKS: {
      Stacks message;
      return Parse(payload, &message) && model_.stacks.Add(process, message);
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

bool RunModel::State::ConsumeProcess(ProcessState* process, std::string_view payload) {
  Process message;
  if (!Parse(payload, &message, kMaxKeptBytes) ||
      !model_.memory->Keep(std::move(message), &process->info)) {
    return false;
  }
  process->newest_ns = std::max(process->newest_ns, process->info.start_time_ns());
  return true;
}

bool RunModel::State::ConsumeDevice(ProcessState* process, std::string_view payload) {
  Device message;
  if (!Parse(payload, &message, kMaxKeptBytes)) return false;
  const auto index = model_.devices.Find(message.uuid());
  if (!index.has_value() || process->device_by_ordinal.size() > DeviceTable::kMaxDevices) {
    return false;
  }
  process->device_by_ordinal[message.ordinal()] = *index;
  DeviceState& device = model_.devices[*index];
  device.mps = device.mps || message.mps();
  device.info = std::move(message);
  return true;
}

bool RunModel::State::ConsumeContext(ProcessState* process, std::string_view payload) {
  Context message;
  if (!Parse(payload, &message) || !model_.processes.AddContext(process, message)) return false;
  const auto device = process->device_by_ordinal.find(message.device_ordinal());
  if (device != process->device_by_ordinal.end()) model_.devices[device->second].used = true;
  return true;
}

bool RunModel::State::ConsumeLaunches(ProcessState* process, std::string_view payload) {
  if (!launch_intake_.Take(payload, process, &model_)) return false;
  ReleaseAfter(*process);
  return true;
}

bool RunModel::State::ConsumeCopies(ProcessState* process, std::string_view payload) {
  if (!DecodeCopies(payload, &copies_)) return false;
  process->copies_timeless += copies_.timeless;
  for (const Copy& copy : copies_.copies) {
    const auto index = model_.DeviceOf(*process, copy.context);
    if (!index.has_value()) continue;
    DeviceState& device = model_.devices[*index];
    device.used = true;
    if (!IsOfThisRun(copy.start_ns, copy.end_ns, model_.ReachOf(*process))) {
      ++process->copies_timeless;
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

bool RunModel::State::ConsumeMarkers(ProcessState* process, std::string_view payload) {
  MarkerBatch message;
  if (!Parse(payload, &message)) return false;
  return model_.markers.Add(*process, message, [&](const MarkerRange& range, MarkerCount* count) {
    model_.step_marks.Add(process->source, range.name, range.start_ns, range.end_ns);
    const bool is_mark = range.start_ns == range.end_ns;
    if (count == nullptr || is_mark) return;
    model_.placement.AddRange(process->source, range.thread, range.start_ns, range.end_ns,
                              &count->kernels);
  });
}

bool RunModel::State::ConsumeLaunchCalls(ProcessState* process, std::string_view payload) {
  LaunchCallBatch message;
  return Parse(payload, &message) && model_.placement.AddCalls(process->source, message);
}

bool RunModel::State::ConsumeCommunicationCalls(ProcessState* process, std::string_view payload) {
  CommunicationCallBatch message;
  return Parse(payload, &message) &&
         model_.collective_sizes.Add(*process, message, &model_.placement);
}

// Time between two windows of a process is unknown on every device that it uses.
bool RunModel::State::ConsumeTraceWindow(ProcessState* process, std::string_view payload) {
  TraceWindow message;
  if (!Parse(payload, &message)) return false;
  model_.processes.AddWindow(process, message);
  if (const auto gap = process->coverage.Add(message)) AddUntraced(*process, *gap, &model_);
  return true;
}

bool RunModel::State::ConsumeRanges(ProcessState* process, std::string_view payload) {
  RangeBatch message;
  if (!Parse(payload, &message) || message.metric_size() > kMaxMetrics) return false;
  // An agent that found no moment for ranges says so by a batch without any.
  if (message.ranges_size() == 0) return model_.ranges.Add(process->source, 0, message);
  const auto device = model_.DeviceOf(*process, message.ranges(0).context());
  if (!device.has_value() || !model_.ranges.Add(process->source, *device, message)) return false;
  model_.devices[*device].range_hold_ups.Add(message);
  return true;
}

bool RunModel::State::ConsumeStatus(ProcessState* process, std::string_view payload) {
  AgentStatus message;
  if (!Parse(payload, &message, kMaxKeptBytes)) return false;
  process->windows.Tell(message);
  if (!model_.memory->Keep(std::move(message), &process->status)) return false;
  process->has_status = true;
  process->newest_ns = std::max(process->newest_ns, process->status.time_ns());
  if (process->newest_ns > kWatermarkSlackNs) {
    const uint64_t settled_ns = process->newest_ns - kWatermarkSlackNs;
    model_.placement.Settle(process->source, settled_ns);
    model_.collective_sizes.Settle(process->source, settled_ns, model_.kernels);
  }
  ReleaseAfter(*process);
  return true;
}

bool RunModel::State::ConsumePoolMemory(ProcessState* process, std::string_view payload) {
  PoolMemory message;
  if (!Parse(payload, &message)) return false;
  const auto device = process->device_by_ordinal.find(message.device_ordinal());
  if (device != process->device_by_ordinal.end()) {
    model_.devices[device->second].pools.Add(process->source, message);
  }
  return true;
}

bool RunModel::State::ConsumeEnd(ProcessState* process, std::string_view payload) {
  ProcessEnd message;
  if (!Parse(payload, &message, kMaxKeptBytes)) return false;
  if (!process->end.has_value()) process->end.emplace();
  if (!model_.memory->Keep(std::move(message), &*process->end)) return false;
  AddLostTail(*process, &model_);
  for (const auto& [ordinal, device] : process->device_by_ordinal) {
    model_.devices[device].pools.End(process->source);
  }
  model_.processes.ForgetNames(process);
  return true;
}

void RunModel::State::AddOrderedLaunch(const Activity& activity, DeviceState* device) {
  // What was counted then is of no kernel that could be named.
  if (const auto shared = device->overlap.Add(activity)) {
    device->attribution.AddUntraced(shared->start_ns, shared->end_ns);
  }
  const bool communication = activity.kind == ActivityKind::kCommunication;
  model_.collective_order.Add(activity.source, activity.kernel, communication);
  if (!communication) return;
  device->exposed.AddLaunch(activity);
  model_.arrivals.Add(activity.source, activity.start_ns, activity.end_ns);
}

void RunModel::State::ReleaseDevice(uint32_t index, uint64_t watermark_ns) {
  DeviceState& device = model_.devices[index];
  uint64_t reached_ns = 0;
  for (const Activity& activity : device.queue.Release(watermark_ns, &reached_ns)) {
    device.sweep.Add(activity);
    device.gap_sites.Add(activity);
    device.idle_by_stack.Add(activity);
    device.ledger.AddStart(activity);
    if (activity.kernel != kNoKernel) AddOrderedLaunch(activity, &device);
    device.steps.Add(activity);
    device.returns.Add(activity);
    if (step_kernel_.Marks(activity.kernel, model_.kernels)) {
      device.named_steps.Add(activity.start_ns);
    }
    device.kernel_series.Add(activity);
    device.attribution.AddActivity(activity);
    model_.ranges.AddActivity(index, activity);
  }
  device.released_until_ns = std::max(device.released_until_ns, reached_ns);
  device.sweep.AdvanceTo(device.released_until_ns);
  TellUntraced(index, &model_);
  device.attribution.AdvanceTo(device.released_until_ns);
  model_.ranges.AdvanceTo(index, device.released_until_ns);
}

void RunModel::State::ReleaseAfter(const ProcessState& process) {
  model_.processes.Advanced(process);
  Release(false);
}

void RunModel::State::Release(bool everything) {
  if (everything) {
    model_.placement.SettleAll();
    model_.collective_sizes.SettleAll(model_.kernels);
  }
  const bool look = everything || bytes_since_look_ >= kReleaseBytes;
  if (look) bytes_since_look_ = 0;
  const bool few_processes = model_.processes.processes().size() <= kFewProcesses;
  const uint64_t watermark_ns =
      everything ? UINT64_MAX : model_.processes.WatermarkNs(kWatermarkSlackNs);
  size_t held = 0;
  for (uint32_t i = 0; i < model_.devices.size(); ++i) {
    const ActivityQueue& queue = model_.devices[i].queue;
    const bool is_cheap = few_processes && queue.held() < 4 * kReleaseBatch;
    if (everything || queue.full() || (queue.held() >= kReleaseBatch && (look || is_cheap))) {
      ReleaseDevice(i, watermark_ns);
    }
    held += queue.held();
  }
  if (held >= kMostHeld) ReleaseHalfOfEach();
}

// Whatever the watermark says: there are too many devices for each to fill its own queue.
void RunModel::State::ReleaseHalfOfEach() {
  for (uint32_t i = 0; i < model_.devices.size(); ++i) {
    const ActivityQueue& queue = model_.devices[i].queue;
    if (queue.held() > 0) ReleaseDevice(i, queue.MiddleNs() + 1);
  }
}

void RunModel::State::EndOfInput() {
  if (!ended_) AddUntracedTails(&model_);
  ended_ = true;
  Release(true);
}

void RunModel::State::Advance() {
  const uint64_t watermark_ns = model_.processes.WatermarkNs(kWatermarkSlackNs);
  for (uint32_t i = 0; i < model_.devices.size(); ++i) ReleaseDevice(i, watermark_ns);
}

RunModel::RunModel(const ModelOptions& options) : state_(std::make_unique<State>(options)) {}
RunModel::~RunModel() = default;
RunModel::RunModel(RunModel&&) noexcept = default;
RunModel& RunModel::operator=(RunModel&&) noexcept = default;

void RunModel::Consume(uint32_t source, uint16_t type, std::string_view payload) {
  if (!state_->Consume(source, type, payload)) ++state_->model().frames_refused;
}

uint64_t RunModel::Launches() const { return state_->model().launches; }

const ModelState& RunModel::Advance() {
  state_->Advance();
  return state_->model();
}

const ModelState& RunModel::state() const { return state_->model(); }

void RunModel::EndOfInput() { state_->EndOfInput(); }

void RunModel::CountRefusedFrames(uint64_t frames) { state_->model().frames_refused += frames; }

void RunModel::CountUnreadableBytes(uint64_t bytes) { state_->model().bytes_unreadable += bytes; }

}  // namespace utlz
