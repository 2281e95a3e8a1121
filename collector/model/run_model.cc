#include "collector/model/run_model.h"

#include <algorithm>
#include <utility>

#include "collector/model/copy_decoder.h"
#include "collector/model/launch_decoder.h"
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

  std::optional<uint32_t> DeviceOf(const ProcessState& process, uint32_t context);
  RunReach ReachOf(const ProcessState& process) const;
  void AddLaunches(ProcessState* process, const LaunchSegment& segment, const Launch* launches);
  void AddTimeless(ProcessState* process, const DecodedLaunches& decoded);
  void AddOrderedLaunch(const Activity& activity, DeviceState* device);
  void Release(bool everything);
  void ReleaseDevice(uint32_t index, uint64_t watermark_ns);

  ModelState model_;
  LaunchDecoder launch_decoder_;
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

// A context that was not announced (its frame was lost) is on the process's only device, or on one
// that is not known.
std::optional<uint32_t> RunModel::State::DeviceOf(const ProcessState& process, uint32_t context) {
  const auto ordinal = process.ordinal_by_context.find(context);
  if (ordinal != process.ordinal_by_context.end()) {
    const auto device = process.device_by_ordinal.find(ordinal->second);
    if (device != process.device_by_ordinal.end()) return device->second;
  }
  if (process.device_by_ordinal.size() == 1) return process.device_by_ordinal.begin()->second;
  return model_.devices.Find({});
}

RunReach RunModel::State::ReachOf(const ProcessState& process) const {
  return {.start_ns = model_.run_start.has_value() ? model_.run_start->time_ns() : 0,
          .newest_ns = process.newest_ns};
}

void RunModel::State::AddLaunches(ProcessState* process, const LaunchSegment& segment,
                                  const Launch* launches) {
  model_.launches += segment.launches;
  const auto index = DeviceOf(*process, segment.context);
  if (!index.has_value()) {
    process->launches_unplaced += segment.launches;
    return;
  }
  DeviceState& device = model_.devices[*index];
  device.used = true;
  StreamCount none;
  StreamCount* stream = process->streams.size() < ProcessTable::kMaxStreams
                            ? &process->streams[{segment.context, segment.stream}]
                            : &none;
  const bool of_graph = segment.graph_correlation != 0;
  WindowTimes::Place place =
      process->windows.PlaceOf(segment.launches > 0 ? launches[0].start_ns : 0);
  LaunchPlace among;
  among.untraced_since_ns = process->coverage.UntracedSinceNs().value_or(UINT64_MAX);
  uint32_t implausible = 0;
  uint32_t not_the_programs = 0;
  uint32_t placed = 0;
  uint64_t placed_ns = 0;
  for (uint32_t i = 0; i < segment.launches; ++i) {
    const Launch& launch = launches[i];
    const uint64_t duration_ns = launch.end_ns - launch.start_ns;
    const uint32_t kernel_index = model_.kernels.Find(process, launch.variant, *index);
    Kernel& kernel = model_.kernels[kernel_index];
    if (kernel.profiler) {
      ++not_the_programs;
      continue;
    }
    KernelShare* share = kernel.ShareOf(process->source);
    bool plausible = IsOfThisRun(launch.start_ns, launch.end_ns, ReachOf(*process));
    if (plausible && duration_ns >= kShortestImplausibleNs) {
      among.next_start_ns = i + 1 < segment.launches ? launches[i + 1].start_ns : UINT64_MAX;
      plausible = IsPlausible(launch, among, kernel);
    }
    if (!plausible) {
      ++implausible;
      ++share->timeless;
      share->by_window.Add(process->windows, place, {1, kernel.durations.mean_ns()});
      if (!of_graph) process->windows.CountOperations(place);
      continue;
    }
    // A segment may be longer than a slice of a window.
    if (!process->windows.IsAt(place, launch.start_ns)) {
      place = process->windows.PlaceOf(launch.start_ns);
    }
    kernel.durations.Add(duration_ns);
    ++share->launches;
    share->time_ns += duration_ns;
    share->by_window.Add(process->windows, place, {1, static_cast<double>(duration_ns)});
    const bool begins_launch =
        !of_graph || (placed == 0 && device.graphs.Begin(process->source, segment.graph_correlation,
                                                         launches[0].variant, launch.start_ns));
    if (begins_launch) process->windows.CountOperations(place);
    ++placed;
    placed_ns += duration_ns;
    stream->kernel_time_ns += duration_ns;
    process->kernel_time_ns += duration_ns;
    process->newest_ns = std::max(process->newest_ns, launch.end_ns);
    if (process->first_ns == 0 || launch.start_ns < process->first_ns) {
      process->first_ns = launch.start_ns;
    }
    model_.placement.AddLaunch(process->source, launch.correlation, kernel_index, duration_ns);
    device.queue.Add(
        {.start_ns = launch.start_ns,
         .end_ns = launch.end_ns,
         .kernel = kernel_index,
         .stream = segment.stream,
         .context = segment.context,
         .source = static_cast<uint16_t>(process->source),
         .kind = kernel.communication ? ActivityKind::kCommunication : ActivityKind::kCompute,
         .begins_launch = begins_launch});
  }
  if (of_graph) device.graphs.AddTime(process->source, segment.graph_correlation, placed_ns);
  const uint32_t launched = segment.launches - not_the_programs;
  model_.launches -= not_the_programs;
  stream->launches += launched;
  process->launches += launched - implausible;
  if (of_graph) process->graph_nodes += launched - implausible;
  process->launches_timeless += implausible;
  process->launches_implausible += implausible;
}

// Most are what a window's end cut, so that they belong to its last slice: without them a window
// that holds few replays of a graph would hold parts of some.
void RunModel::State::AddTimeless(ProcessState* process, const DecodedLaunches& decoded) {
  const WindowTimes::Place place = process->windows.PlaceOf(process->newest_ns);
  process->windows.CountOperations(place, decoded.timeless_operations);
  for (const TimelessLaunches& timeless : decoded.timeless) {
    process->launches_timeless += timeless.launches;
    model_.launches += timeless.launches;
    const auto device = process->device_by_ordinal.size() == 1
                            ? std::make_optional(process->device_by_ordinal.begin()->second)
                            : model_.devices.Find({});
    if (!device.has_value()) continue;
    Kernel& kernel = model_.kernels[model_.kernels.Find(process, timeless.variant, *device)];
    KernelShare* share = kernel.ShareOf(process->source);
    share->timeless += timeless.launches;
    const double launches = timeless.launches;
    share->by_window.Add(process->windows, place,
                         {launches, launches * kernel.durations.mean_ns()});
  }
}

bool RunModel::State::ConsumeLaunches(ProcessState* process, std::string_view payload) {
  const DecodedLaunches* decoded = launch_decoder_.Decode(payload);
  if (decoded == nullptr) return false;
  const Launch* next = decoded->launches.data();
  for (const LaunchSegment& segment : decoded->segments) {
    AddLaunches(process, segment, next);
    next += segment.launches;
  }
  AddTimeless(process, *decoded);
  Release(false);
  return true;
}

bool RunModel::State::ConsumeCopies(ProcessState* process, std::string_view payload) {
  if (!DecodeCopies(payload, &copies_)) return false;
  process->copies_timeless += copies_.timeless;
  for (const Copy& copy : copies_.copies) {
    const auto index = DeviceOf(*process, copy.context);
    if (!index.has_value()) continue;
    DeviceState& device = model_.devices[*index];
    device.used = true;
    if (!IsOfThisRun(copy.start_ns, copy.end_ns, ReachOf(*process))) {
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
  const auto device = DeviceOf(*process, message.ranges(0).context());
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
