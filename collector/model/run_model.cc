#include "collector/model/run_model.h"

#include <algorithm>
#include <utility>

#include "collector/model/copy_decoder.h"
#include "collector/model/launch_intake.h"
#include "collector/model/launch_plausibility.h"
#include "collector/model/model_state.h"
#include "collector/model/model_work.h"
#include "collector/model/parse.h"
#include "collector/model/sampler_intake.h"
#include "collector/model/summary_builder.h"
#include "collector/model/untraced_time.h"

namespace utlz {
namespace {

// Records of one process come unordered by about this much.
constexpr uint64_t kWatermarkSlackNs = 3'000'000'000;
// Activities held by a device before a look at the watermark is worth its cost.
constexpr size_t kReleaseBatch = 65536;

}  // namespace

class RunModel::State {
 public:
  explicit State(const ModelOptions& options) {
    model_.options = options;
    model_.work = options.work;
    for (const DeviceCeilings& ceilings : options.ceilings) SetCeilings(ceilings);
  }

  bool Consume(uint32_t source, uint16_t type, std::string_view payload);
  Summary Summarize();
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
  void Release(bool everything);
  void ReleaseDevice(uint32_t index, uint64_t watermark_ns);

  ModelState model_;
  LaunchIntake launch_intake_;
  DecodedCopies copies_;
  SamplerIntake sampler_intake_;
  bool ended_ = false;
};

bool RunModel::State::Consume(uint32_t source, uint16_t type, std::string_view payload) {
  if (payload.size() > INT32_MAX) return false;
  if (type == FRAME_PADDING) return true;
  // What only the collector or the sampler can say, no target may say for them.
  if (type >= FRAME_METRIC_SET && source != 0) return false;
  if (type >= FRAME_RUN_START) return ConsumeFromCollector(type, payload);
  if (type >= FRAME_METRIC_SET) return ConsumeFromSampler(type, payload);
  ProcessState* process = model_.processes.Get(source);
  if (process == nullptr) return false;
  process->wire_bytes += payload.size();
  return ConsumeFromAgent(process, type, payload);
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
    if (!Parse(payload, &message) || !SetCeilings(message)) return false;
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
  if (!Parse(payload, &message)) return false;
  process->info = std::move(message);
  process->newest_ns = std::max(process->newest_ns, process->info.start_time_ns());
  return true;
}

bool RunModel::State::ConsumeDevice(ProcessState* process, std::string_view payload) {
  Device message;
  if (!Parse(payload, &message)) return false;
  const auto index = model_.devices.Find(message.uuid());
  if (!index.has_value() || process->device_by_ordinal.size() > DeviceTable::kMaxDevices) {
    return false;
  }
  process->device_by_ordinal[message.ordinal()] = *index;
  model_.devices[*index].info = std::move(message);
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
  Release(false);
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
                      .kind = KindOfCopy(copy.kind, copy.pageable)});
  }
  Release(false);
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
  process->windows.Add(message);
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
  if (!Parse(payload, &message)) return false;
  process->windows.Tell(message);
  process->status = std::move(message);
  process->has_status = true;
  process->newest_ns = std::max(process->newest_ns, process->status.time_ns());
  if (process->newest_ns > kWatermarkSlackNs) {
    const uint64_t settled_ns = process->newest_ns - kWatermarkSlackNs;
    model_.placement.Settle(process->source, settled_ns);
    model_.collective_sizes.Settle(process->source, settled_ns, model_.kernels);
  }
  Release(false);
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
  if (!Parse(payload, &message)) return false;
  process->end = std::move(message);
  AddLostTail(*process, &model_);
  for (const auto& [ordinal, device] : process->device_by_ordinal) {
    model_.devices[device].pools.End(process->source);
  }
  return true;
}

void RunModel::State::AddOrderedLaunch(const Activity& activity, DeviceState* device) {
  device->ledger.AddLaunch(activity);
  if (activity.kind != ActivityKind::kCommunication) return;
  device->exposed.AddLaunch(activity);
  model_.arrivals.Add(activity.source, activity.start_ns, activity.end_ns);
}

void RunModel::State::ReleaseDevice(uint32_t index, uint64_t watermark_ns) {
  DeviceState& device = model_.devices[index];
  uint64_t reached_ns = 0;
  for (const Activity& activity : device.queue.Release(watermark_ns, &reached_ns)) {
    device.sweep.Add(activity);
    if (activity.kernel != kNoKernel) AddOrderedLaunch(activity, &device);
    device.steps.Add(activity);
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

void RunModel::State::Release(bool everything) {
  if (everything) {
    model_.placement.SettleAll();
    model_.collective_sizes.SettleAll(model_.kernels);
  }
  const uint64_t watermark_ns =
      everything ? UINT64_MAX : model_.processes.WatermarkNs(kWatermarkSlackNs);
  for (uint32_t i = 0; i < model_.devices.size(); ++i) {
    const ActivityQueue& queue = model_.devices[i].queue;
    if (everything || queue.full() || queue.held() >= kReleaseBatch) ReleaseDevice(i, watermark_ns);
  }
}

void RunModel::State::EndOfInput() {
  if (!ended_) AddUntracedTails(&model_);
  ended_ = true;
  Release(true);
}

Summary RunModel::State::Summarize() {
  const uint64_t watermark_ns = model_.processes.WatermarkNs(kWatermarkSlackNs);
  for (uint32_t i = 0; i < model_.devices.size(); ++i) ReleaseDevice(i, watermark_ns);
  return BuildSummary(model_);
}

RunModel::RunModel(const ModelOptions& options) : state_(std::make_unique<State>(options)) {}
RunModel::~RunModel() = default;
RunModel::RunModel(RunModel&&) noexcept = default;
RunModel& RunModel::operator=(RunModel&&) noexcept = default;

void RunModel::Consume(uint32_t source, uint16_t type, std::string_view payload) {
  if (!state_->Consume(source, type, payload)) ++state_->model().frames_refused;
}

uint64_t RunModel::Launches() const { return state_->model().launches; }

std::vector<CounterPrecision> RunModel::CounterPrecisions() const {
  return utlz::CounterPrecisions(state_->model());
}

void RunModel::EndOfInput() { state_->EndOfInput(); }

Summary RunModel::Summarize() { return state_->Summarize(); }

void RunModel::CountRefusedFrames(uint64_t frames) { state_->model().frames_refused += frames; }

void RunModel::CountUnreadableBytes(uint64_t bytes) { state_->model().bytes_unreadable += bytes; }

}  // namespace utlz
