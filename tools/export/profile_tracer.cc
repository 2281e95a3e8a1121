#include "tools/export/profile_tracer.h"

#include <algorithm>
#include <iterator>

#include "collector/decode/copy_decoder.h"
#include "collector/decode/parse.h"
#include "collector/gpu_uuid.h"
#include "collector/kernel_names/kernel_name.h"
#include "collector/run/device_table.h"
#include "tools/export/copy_name.h"

namespace utlz {
namespace {

std::string Dimensions(const uint32_t (&sizes)[3]) {
  return std::to_string(sizes[0]) + "," + std::to_string(sizes[1]) + "," + std::to_string(sizes[2]);
}

// Wraps around where a hostile shape's product is too large; nothing depends on it.
uint64_t Product(const uint32_t (&sizes)[3]) { return uint64_t{sizes[0]} * sizes[1] * sizes[2]; }

TraceLaunch LaunchOf(const VariantShape& shape) {
  TraceLaunch launch;
  std::copy(std::begin(shape.grid), std::end(shape.grid), launch.grid);
  std::copy(std::begin(shape.block), std::end(shape.block), launch.block);
  return launch;
}

// Processes of the trace: 0 is for what belongs to a GPU and no process.
uint32_t TraceProcessOf(uint32_t source) { return source + 1; }

}  // namespace

void ProfileTracer::Begin() {
  sink_->Begin();
  sink_->Declare(TraceProcess{0, 0, "GPU counters"});
}

void ProfileTracer::Consume(uint32_t source, uint16_t type, std::string_view payload) {
  if (!Take(source, type, payload)) ++result_.frames_refused;
}

bool ProfileTracer::Take(uint32_t source, uint16_t type, std::string_view payload) {
  switch (type) {
    case FRAME_PROCESS:
      return TakeProcess(source, payload);
    case FRAME_DEVICE:
      return TakeDevice(source, payload);
    case FRAME_CONTEXT:
    case FRAME_STRINGS:
    case FRAME_VARIANTS: {
      ProcessState* process = processes_.Get(source);
      return process && processes_.TakeDescription(type, payload, process).value_or(false);
    }
    case FRAME_STACKS: {
      Stacks message;
      ProcessState* process = processes_.Get(source);
      return process && Parse(payload, &message) && stacks_.Add(process, message);
    }
    case FRAME_LAUNCHES:
      return TakeLaunches(source, payload);
    case FRAME_COPIES:
      return TakeCopies(source, payload);
    case FRAME_MARKERS:
      return TakeMarkers(source, payload);
    case FRAME_METRIC_SET:
      return TakeMetricSet(payload);
    case FRAME_SAMPLES:
      return TakeSamples(payload);
    case FRAME_DEVICE_TOTALS:
      return TakeTotals(payload);
    default:
      return true;
  }
}

bool ProfileTracer::TakeProcess(uint32_t source, std::string_view payload) {
  ProcessState* process = processes_.Get(source);
  if (!process || !Parse(payload, &process->info)) return false;
  const std::string& path = process->info.executable();
  const std::string name = path.substr(path.rfind('/') + 1);
  sink_->Declare(TraceProcess{TraceProcessOf(source), process->info.pid(), name});
  return true;
}

bool ProfileTracer::TakeDevice(uint32_t source, std::string_view payload) {
  Device device;
  if (!Parse(payload, &device) || places_.size() >= kMaxPlaces) return false;
  places_[{source, device.ordinal()}] = {GpuOf(device.uuid()), FormatGpuUuid(device.uuid())};
  return true;
}

const ProfileTracer::Place& ProfileTracer::PlaceOf(const ProcessState& process, uint32_t context) {
  static const Place unknown;
  const auto ordinal = process.ordinal_by_context.find(context);
  if (ordinal == process.ordinal_by_context.end()) return unknown;
  const auto place = places_.find({process.source, ordinal->second});
  return place == places_.end() ? unknown : place->second;
}

std::optional<uint64_t> ProfileTracer::StreamTrack(const ProcessState& process, uint32_t context,
                                                   uint32_t stream, uint64_t start_ns,
                                                   uint64_t end_ns) {
  const LaneKey key = {.kind = LaneKey::Kind::kStream,
                       .process = TraceProcessOf(process.source),
                       .context = context,
                       .row = stream,
                       .gpu = PlaceOf(process, context).gpu};
  return lanes_.Place(key, start_ns, end_ns, StreamName(process, context, stream));
}

std::string_view ProfileTracer::StringOf(const ProcessState& process, uint32_t id) const {
  return id < process.strings.size() ? std::string_view(process.strings[id]) : std::string_view();
}

const ProfileTracer::Name& ProfileTracer::NameOf(const ProcessState& process, uint32_t variant) {
  const auto key = std::make_pair(process.source, variant);
  const auto known = names_.find(key);
  if (known != names_.end()) return known->second;
  static const Name unknown = {"unknown kernel", "", ""};
  if (variant >= process.variants.size() || names_.size() >= kMaxNames) return unknown;
  const VariantShape& shape = process.variants[variant];
  const std::string name = ShortenKernelName(DemangleKernelName(StringOf(process, shape.name)));
  return names_
      .emplace(key, Name{name.empty() ? unknown.shown : name, Dimensions(shape.grid),
                         Dimensions(shape.block)})
      .first->second;
}

std::string ProfileTracer::StreamName(const ProcessState& process, uint32_t context,
                                      uint32_t stream) const {
  const auto ordinal = process.ordinal_by_context.find(context);
  const std::string device = ordinal == process.ordinal_by_context.end()
                                 ? "GPU ?"
                                 : "GPU " + std::to_string(ordinal->second);
  // Perfetto shows the queues of all processes together.
  return device + " stream " + std::to_string(stream) + ", pid " +
         std::to_string(process.info.pid());
}

void ProfileTracer::WriteRates(uint32_t gpu, const Launch& launch,
                               const KernelMetrics::Metrics& metrics) {
  uint64_t& until_ns = rates_until_ns_[gpu];
  if (launch.start_ns < until_ns || launch.end_ns <= launch.start_ns || metrics.rates.empty())
    return;
  until_ns = launch.end_ns;
  for (const KernelMetrics::Metric& metric : metrics.rates) {
    uint32_t& counter = rate_counters_[{gpu, metric.name}];
    if (counter == 0) {
      counter = ++counters_;
      sink_->Declare(TraceCounter{counter, gpu, metric.name, "percent", true});
    }
    const CounterValue value = {counter, metric.value};
    sink_->Write(TraceSample{gpu, launch.start_ns, launch.end_ns, {&value, 1}});
  }
}

const ProfileTracer::Owner& ProfileTracer::OwnerOf(uint32_t stack) {
  const auto known = owners_.find(stack);
  if (known != owners_.end()) return known->second;
  Owner owner;
  const LayerOwner layer = stack_owners_.LayerOf(stack);
  if (layer.kind == "layer") owner.layer = layer.path.empty() ? layer.model : layer.path;
  if (const StackFrame* frame = stack_owners_.LineOf(stack)) owner.line = LineName(*frame);
  owner.operations = stack_owners_.OperationsOf(stack);
  if (stack != kNoStack && stacks_.FrameOf(stack).kind == STACK_FRAME_XLA_INSTRUCTION) {
    owner.instruction = stacks_.FrameOf(stack).module_class;
  }
  if (layer.pass == LaunchPass::kBackward) owner.pass = "backward";
  if (layer.pass == LaunchPass::kRecomputation) owner.pass = "recomputation";
  owner.inferred = layer.inferred;
  return owners_.emplace(stack, std::move(owner)).first->second;
}

void ProfileTracer::WriteLaunch(const ProcessState& process, const Launch& launch,
                                const LaunchSegment& segment) {
  const auto track =
      StreamTrack(process, segment.context, segment.stream, launch.start_ns, launch.end_ns);
  if (!track) return;
  const Name& name = NameOf(process, launch.variant);
  TraceSlice slice{*track, launch.start_ns, launch.end_ns, "kernel", name.shown, {}};
  if (name.grid.empty()) {
    sink_->Write(slice);
    ++result_.kernels;
    return;
  }
  const VariantShape& shape = process.variants[launch.variant];
  const TraceLaunch how = LaunchOf(shape);
  std::vector<TraceArgument> arguments = {
      {"launch__grid_dim", std::string_view(name.grid)},
      {"launch__block_dim", std::string_view(name.block)},
      {"launch__grid_size", Product(shape.grid)},
      {"launch__block_size", Product(shape.block)},
      {"launch__thread_count", Product(shape.grid) * Product(shape.block)},
      {"launch__registers_per_thread", uint64_t{shape.registers_per_thread}},
      {"launch__shared_mem_per_block", uint64_t{shape.shared_bytes}}};
  if (shape.graph_node != 0) arguments.push_back({"graph node", shape.graph_node});
  const NodeStacks::NodeOwner of_node = node_stacks_->Find(process.source, shape, &stacks_);
  const uint32_t stack =
      of_node.stack != kNoStack ? of_node.stack : StackTable::Find(process, launch.stack);
  if (stack != kNoStack) {
    const Owner& owner = OwnerOf(stack);
    if (!owner.layer.empty()) arguments.push_back({"layer", std::string_view(owner.layer)});
    if (!owner.line.empty()) arguments.push_back({"line", std::string_view(owner.line)});
    if (!owner.operations.empty()) {
      arguments.push_back({"operations", std::string_view(owner.operations)});
    }
    if (!owner.instruction.empty()) {
      arguments.push_back({"XLA instruction", std::string_view(owner.instruction)});
    }
    if (owner.pass != nullptr) arguments.push_back({"pass", std::string_view(owner.pass)});
    if (owner.inferred || (of_node.stack != kNoStack && of_node.inferred)) {
      arguments.push_back({"owner", std::string_view("inferred")});
    }
  }
  const Place& place = PlaceOf(process, segment.context);
  const KernelMetrics::Metrics* metrics = metrics_.Find(
      StringOf(process, shape.name), shape, place.uuid, launch.end_ns - launch.start_ns);
  if (metrics) {
    for (const KernelMetrics::Metric& metric : metrics->arguments) {
      arguments.push_back({metric.name, metric.value});
    }
  }
  slice.arguments = arguments;
  slice.launch = &how;
  sink_->Write(slice);
  if (metrics) WriteRates(place.gpu, launch, *metrics);
  ++result_.kernels;
}

bool ProfileTracer::TakeLaunches(uint32_t source, std::string_view payload) {
  const ProcessState* process = processes_.Get(source);
  if (!process) return false;
  const DecodedLaunches* decoded = launches_.Decode(payload);
  if (!decoded) return false;
  size_t at = 0;
  for (const LaunchSegment& segment : decoded->segments) {
    for (uint32_t i = 0; i < segment.launches && at < decoded->launches.size(); ++i) {
      WriteLaunch(*process, decoded->launches[at++], segment);
    }
  }
  return true;
}

bool ProfileTracer::TakeCopies(uint32_t source, std::string_view payload) {
  const ProcessState* process = processes_.Get(source);
  DecodedCopies decoded;
  if (!process || !DecodeCopies(payload, &decoded)) return false;
  for (const Copy& copy : decoded.copies) {
    const auto track = StreamTrack(*process, copy.context, copy.stream, copy.start_ns, copy.end_ns);
    if (!track) continue;
    const TraceArgument arguments[] = {
        {"bytes", copy.bytes},
        {"host memory", std::string_view(copy.pageable ? "pageable" : "pinned or none")}};
    sink_->Write(
        TraceSlice{*track, copy.start_ns, copy.end_ns, "copy", CopyName(copy.kind), arguments});
    ++result_.copies;
  }
  return true;
}

bool ProfileTracer::TakeMarkers(uint32_t source, std::string_view payload) {
  const ProcessState* process = processes_.Get(source);
  MarkerBatch batch;
  if (!process || !Parse(payload, &batch)) return false;
  const int count = batch.start_delta_ns_size();
  const auto fits = [count](int size) { return size == 0 || size == count; };
  if (batch.duration_ns_size() != count || batch.name_size() != count ||
      !fits(batch.domain_size()) || !fits(batch.thread_size()) || !fits(batch.depth_size())) {
    return false;
  }
  uint64_t start_ns = batch.base_ns();
  for (int i = 0; i < count; ++i) {
    start_ns += static_cast<uint64_t>(batch.start_delta_ns(i));
    const uint64_t end_ns = start_ns + batch.duration_ns(i);
    if (end_ns < start_ns) return false;
    const uint32_t thread = batch.thread_size() == 0 ? 0 : batch.thread(i);
    const uint32_t depth = batch.depth_size() == 0 ? 0 : batch.depth(i);
    std::string row = "NVTX thread " + std::to_string(thread);
    if (depth > 0) row += " depth " + std::to_string(depth);
    const LaneKey key = {LaneKey::Kind::kMarkers, TraceProcessOf(source), 0, thread, depth};
    const auto track = lanes_.Place(key, start_ns, end_ns, row);
    if (!track) continue;
    std::string name(StringOf(*process, batch.name(i)));
    if (batch.domain_size() != 0 && batch.domain(i) != 0) {
      name = std::string(StringOf(*process, batch.domain(i))) + ": " + name;
    }
    sink_->Write(TraceSlice{*track, start_ns, end_ns, "nvtx", name, {}});
    ++result_.markers;
  }
  return true;
}

}  // namespace utlz
