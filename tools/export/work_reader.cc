#include "tools/export/work_reader.h"

#include "collector/decode/copy_decoder.h"
#include "collector/decode/parse.h"
#include "collector/gpu_uuid.h"
#include "collector/kernel_names/kernel_class.h"
#include "collector/kernel_names/kernel_name.h"
#include "collector/run/device_table.h"
#include "tools/export/copy_name.h"

namespace utlz {
WorkReader::SteadyTime WorkReader::SteadyTimeOf(const Summary& summary) {
  SteadyTime steady;
  if (summary.steady_state().scope() != "steps") return steady;
  const uint64_t start_ns = summary.run().start_time_ns();
  const auto since_start = [&](double ns) {
    return start_ns + (ns > 0 && ns < 1e18 ? static_cast<uint64_t>(ns) : 0);
  };
  steady.start_ns = since_start(summary.steady_state().start_ns());
  steady.end_ns = since_start(summary.steady_state().end_ns());
  return steady;
}

WorkReader::WorkReader(const Summary& summary, const GapTimes& gap_times, RangePaths* paths,
                       NodeStacks* node_stacks)
    : metrics_(summary),
      gap_times_(gap_times),
      steady_(SteadyTimeOf(summary)),
      idle_(&sites_),
      join_(paths, [this](const JoinedLaunch& launch) { AddJoined(launch); }),
      node_stacks_(node_stacks) {}

void WorkReader::Consume(uint32_t source, uint16_t type, std::string_view payload) {
  if (!Take(source, type, payload)) ++counts_.frames_refused;
}

void WorkReader::Finish() {
  join_.Finish();
  idle_.Finish();
}

bool WorkReader::Take(uint32_t source, uint16_t type, std::string_view payload) {
  if (type >= FRAME_METRIC_SET || type == FRAME_PADDING) return true;
  ProcessState* process = processes_.Get(source);
  if (process == nullptr) return false;
  switch (type) {
    case FRAME_PROCESS:
      return Parse(payload, &process->info);
    case FRAME_DEVICE:
      return TakeDevice(source, payload);
    case FRAME_STACKS: {
      Stacks message;
      return Parse(payload, &message) && stacks_.Add(process, message);
    }
    case FRAME_LAUNCHES:
      return TakeLaunches(source, payload);
    case FRAME_LAUNCH_CALLS: {
      LaunchCallBatch message;
      return Parse(payload, &message) && join_.AddCalls(source, message);
    }
    case FRAME_COPIES:
      return TakeCopies(source, payload);
    case FRAME_TRACE_WINDOW:
      return TakeWindow(source, payload);
    default:
      return processes_.TakeDescription(type, payload, process).value_or(true);
  }
}

const Process* WorkReader::ProcessOf(uint32_t source) const {
  const auto found = processes_.processes().find(source);
  return found == processes_.processes().end() ? nullptr : &found->second->info;
}

// Names beyond the limit share one.
uint32_t WorkReader::NameId(std::string name) {
  if (names_.size() >= kMaxNames && !name_ids_.contains(name)) name = "(other kernels)";
  const auto [entry, is_new] =
      name_ids_.try_emplace(std::move(name), static_cast<uint32_t>(names_.size()));
  if (is_new) names_.push_back(entry->first);
  return entry->second;
}

uint32_t WorkReader::GpuOf(const std::string& uuid) {
  const auto known = gpus_.find(uuid);
  if (known != gpus_.end()) return known->second;
  if (gpus_.size() >= kMaxGpus) return static_cast<uint32_t>(kMaxGpus - 1);
  const auto gpu = static_cast<uint32_t>(gpus_.size());
  const auto gap_time = gap_times_.find(uuid);
  if (gap_time != gap_times_.end()) idle_.SetTime(gpu, gap_time->second);
  gpu_uuids_.push_back(uuid);
  gpus_.emplace(uuid, gpu);
  return gpu;
}

bool WorkReader::TakeDevice(uint32_t source, std::string_view payload) {
  Device device;
  ProcessState* process = processes_.Get(source);
  if (!Parse(payload, &device) || process->device_by_ordinal.size() >= kMaxGpus) return false;
  process->device_by_ordinal[device.ordinal()] = GpuOf(FormatGpuUuid(device.uuid()));
  return true;
}

uint32_t WorkReader::GpuOfContext(const ProcessState& process, uint32_t context) {
  const auto& devices = process.device_by_ordinal;
  const auto ordinal = process.ordinal_by_context.find(context);
  if (ordinal != process.ordinal_by_context.end()) {
    const auto device = devices.find(ordinal->second);
    if (device != devices.end()) return device->second;
  }
  return devices.size() == 1 ? devices.begin()->second : GpuOf("");
}

const WorkReader::Variant& WorkReader::VariantOf(const ProcessState& process, uint32_t variant,
                                                 uint32_t gpu) {
  const auto key = std::make_tuple(process.source, variant, gpu);
  const auto known = variants_.find(key);
  if (known != variants_.end()) return known->second;
  static const Variant unknown = {.name = UINT32_MAX};
  if (variant >= process.variants.size() || variants_.size() >= kMaxVariants) return unknown;
  const VariantShape& shape = process.variants[variant];
  const std::string_view mangled = shape.name < process.strings.size()
                                       ? std::string_view(process.strings[shape.name])
                                       : std::string_view();
  Variant found;
  found.profiler = IsProfilerKernel(mangled);
  found.kinds = metrics_.KindsOf(mangled, shape, gpu_uuids_[gpu]);
  found.name = found.kinds != nullptr
                   ? 0
                   : NameId(mangled.empty() ? "(unknown kernel)"
                                            : ShortenKernelName(DemangleKernelName(mangled)));
  return variants_.emplace(key, found).first->second;
}

RunPhase WorkReader::PhaseAt(uint64_t time_ns) const {
  if (time_ns < steady_.start_ns) return RunPhase::kBefore;
  return time_ns < steady_.end_ns ? RunPhase::kSteady : RunPhase::kAfter;
}

void WorkReader::AddLaunch(const ProcessState& process, const Launch& launch,
                           const LaunchSegment& segment) {
  WorkSite site;
  site.source = process.source;
  site.gpu = GpuOfContext(process, segment.context);
  const Variant& variant = VariantOf(process, launch.variant, site.gpu);
  if (variant.profiler) return;
  if (variant.kinds != nullptr) {
    site.row = KernelMetrics::NearestOf(*variant.kinds, launch.end_ns - launch.start_ns).row;
  } else {
    site.row = kNoRow;
    site.name = variant.name == UINT32_MAX ? NameId("(unknown kernel)") : variant.name;
  }
  site.stream = segment.stream;
  const uint32_t called_from = StackTable::Find(process, launch.stack);
  site.stack = called_from;
  if (launch.variant < process.variants.size()) {
    const NodeStacks::NodeOwner of_node =
        node_stacks_->Find(process.source, process.variants[launch.variant], &stacks_);
    if (of_node.stack != kNoStack) {
      site.stack = of_node.stack;
      site.inferred = of_node.inferred;
    }
  }
  site.phase = PhaseAt(launch.start_ns);
  ++counts_.kernels;
  join_.AddLaunch({launch.correlation, site, called_from, launch.start_ns, launch.end_ns});
}

void WorkReader::AddJoined(const JoinedLaunch& launch) {
  const std::optional<uint32_t> site = sites_.Find(launch.site);
  if (!site.has_value()) return;
  WorkSums& sums = sites_[*site];
  ++sums.launches;
  sums.time_ns += launch.end_ns - launch.start_ns;
  idle_.Add(launch.site.gpu, launch.start_ns, launch.end_ns, IdleSiteOf(launch, *site), true);
}

// Idle time before nodes of a graph stays with the line of the replay.
uint32_t WorkReader::IdleSiteOf(const JoinedLaunch& launch, uint32_t site) {
  if (launch.site.stack == launch.called_from && !launch.site.inferred) return site;
  WorkSite replay = launch.site;
  replay.stack = launch.called_from;
  replay.inferred = false;
  return sites_.Find(replay).value_or(site);
}

bool WorkReader::TakeLaunches(uint32_t source, std::string_view payload) {
  const ProcessState& process = *processes_.Get(source);
  const DecodedLaunches* decoded = launches_.Decode(payload);
  if (decoded == nullptr) return false;
  const Launch* next = decoded->launches.data();
  for (const LaunchSegment& segment : decoded->segments) {
    for (uint32_t i = 0; i < segment.launches; ++i) AddLaunch(process, *next++, segment);
  }
  return true;
}

bool WorkReader::TakeCopies(uint32_t source, std::string_view payload) {
  const ProcessState& process = *processes_.Get(source);
  DecodedCopies decoded;
  if (!DecodeCopies(payload, &decoded)) return false;
  for (const Copy& copy : decoded.copies) {
    if (!OnDevice(copy.kind)) continue;
    WorkSite site;
    site.name = NameId(std::string(CopyName(copy.kind)));
    site.row = kNoRow;
    site.source = source;
    site.gpu = GpuOfContext(process, copy.context);
    site.stream = copy.stream;
    site.phase = PhaseAt(copy.start_ns);
    ++counts_.copies;
    const std::optional<uint32_t> index = sites_.Find(site);
    if (index.has_value()) idle_.Add(site.gpu, copy.start_ns, copy.end_ns, *index, false);
  }
  return true;
}

// Time between two windows of a process is unknown on every GPU that it uses.
bool WorkReader::TakeWindow(uint32_t source, std::string_view payload) {
  TraceWindow message;
  ProcessState* process = processes_.Get(source);
  if (!Parse(payload, &message)) return false;
  const auto gap = process->coverage.Add(message);
  if (!gap.has_value()) return true;
  for (const auto& [ordinal, gpu] : process->device_by_ordinal) {
    idle_.Add(gpu, gap->start_ns, gap->end_ns, IdleBefore::kNoSite, false);
  }
  return true;
}

}  // namespace utlz
