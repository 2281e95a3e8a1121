#include "tools/export/perfetto_sink.h"

#include <cmath>

#include "tools/export/perfetto_fields.h"

namespace utlz {
namespace {

namespace field = perfetto_fields;
using protozero::pbf_writer;

constexpr uint32_t kSequence = 1;
// Tracks of processes and of slices share one space of identifiers.
constexpr uint64_t kProcessTracks = uint64_t{1} << 40;

field::MeasureUnit UnitOf(std::string_view unit) {
  if (unit == "byte") return field::kByte;
  if (unit == "percent") return field::kPercent;
  if (unit == "watt") return field::kWatt;
  if (unit == "hertz") return field::kHertz;
  if (unit == "instruction") return field::kInstruction;
  return field::kNoUnit;
}

void AddBytes(pbf_writer& writer, uint32_t tag, std::string_view text) {
  writer.add_string(tag, text.data(), text.size());
}

// Identifiers among GPU specifications: stages first, then a queue for each track.
constexpr uint64_t kKernelStage = 1;
constexpr uint64_t kCopyStage = 2;
constexpr uint64_t kFirstQueue = 16;

void AddDim3(pbf_writer& launch, uint32_t tag, const uint32_t (&sizes)[3]) {
  pbf_writer dimensions(launch, tag);
  dimensions.add_uint32(field::kX, sizes[0]);
  dimensions.add_uint32(field::kY, sizes[1]);
  dimensions.add_uint32(field::kZ, sizes[2]);
}

void AddComputeArgument(pbf_writer& launch, const TraceArgument& argument) {
  pbf_writer entry(launch, field::kLaunchArguments);
  AddBytes(entry, field::kComputeName, argument.name);
  if (const auto* count = std::get_if<uint64_t>(&argument.value)) {
    entry.add_uint64(field::kComputeUint, *count);
  } else if (const auto* number = std::get_if<double>(&argument.value)) {
    entry.add_double(field::kComputeDouble, *number);
  } else {
    AddBytes(entry, field::kComputeString, std::get<std::string_view>(argument.value));
  }
}

void AddArgument(pbf_writer& event, const TraceArgument& argument) {
  pbf_writer annotation(event, field::kDebugAnnotations);
  AddBytes(annotation, field::kAnnotationName, argument.name);
  if (const auto* count = std::get_if<uint64_t>(&argument.value)) {
    annotation.add_uint64(field::kUintValue, *count);
  } else if (const auto* number = std::get_if<double>(&argument.value)) {
    annotation.add_double(field::kDoubleValue, *number);
  } else {
    AddBytes(annotation, field::kStringValue, std::get<std::string_view>(argument.value));
  }
}

}  // namespace

void PerfettoSink::Emit(const std::string& packet) {
  std::string framed;
  pbf_writer(framed).add_message(field::kTracePacket, packet);
  out_.write(framed.data(), static_cast<std::streamsize>(framed.size()));
}

void PerfettoSink::Begin() {
  std::string packet;
  pbf_writer writer(packet);
  writer.add_uint32(field::kSequenceId, kSequence);
  writer.add_uint32(field::kSequenceFlags, field::kIncrementalStateCleared);
  Emit(packet);
  DeclareStages();
}

void PerfettoSink::DeclareStages() {
  std::string packet;
  {
    pbf_writer writer(packet);
    writer.add_uint32(field::kSequenceId, kSequence);
    writer.add_uint32(field::kSequenceFlags, field::kNeedsIncrementalState);
    pbf_writer interned(writer, field::kInternedData);
    for (const uint64_t stage : {kKernelStage, kCopyStage}) {
      pbf_writer entry(interned, field::kGpuSpecifications);
      entry.add_uint64(field::kSpecificationIid, stage);
      AddBytes(entry, field::kSpecificationName, stage == kKernelStage ? "kernel" : "copy");
      entry.add_enum(field::kSpecificationCategory,
                     stage == kKernelStage ? field::kComputeStage : field::kOtherStage);
    }
  }
  Emit(packet);
}

void PerfettoSink::DeclareContext(const TraceProcess& process) {
  std::string packet;
  {
    pbf_writer writer(packet);
    writer.add_uint32(field::kSequenceId, kSequence);
    writer.add_uint32(field::kSequenceFlags, field::kNeedsIncrementalState);
    pbf_writer interned(writer, field::kInternedData);
    pbf_writer entry(interned, field::kGraphicsContexts);
    entry.add_uint64(field::kContextIid, process.id);
    entry.add_int32(field::kContextPid, static_cast<int32_t>(process.pid));
    entry.add_enum(field::kContextApi, field::kCuda);
  }
  Emit(packet);
}

void PerfettoSink::DeclareQueue(const TraceTrack& track) {
  queues_[track.id] = {*track.gpu, track.process};
  std::string packet;
  {
    pbf_writer writer(packet);
    writer.add_uint32(field::kSequenceId, kSequence);
    writer.add_uint32(field::kSequenceFlags, field::kNeedsIncrementalState);
    pbf_writer interned(writer, field::kInternedData);
    pbf_writer entry(interned, field::kGpuSpecifications);
    entry.add_uint64(field::kSpecificationIid, kFirstQueue + track.id);
    AddBytes(entry, field::kSpecificationName, track.name);
  }
  Emit(packet);
}

// Says that the trace's clock reads as the wall clock does, so that viewers can show the date.
void PerfettoSink::SnapshotClocks(uint64_t time_ns) {
  if (clocks_known_) return;
  clocks_known_ = true;
  std::string packet;
  {
    pbf_writer writer(packet);
    writer.add_uint64(field::kTimestamp, time_ns);
    writer.add_uint32(field::kSequenceId, kSequence);
    pbf_writer snapshot(writer, field::kClockSnapshot);
    for (const uint32_t id : {field::kRealtime, field::kBoottime}) {
      pbf_writer clock(snapshot, field::kClock);
      clock.add_uint32(field::kClockId, id);
      clock.add_uint64(field::kClockTimestamp, time_ns);
    }
    snapshot.add_uint32(field::kPrimaryTraceClock, field::kBoottime);
  }
  Emit(packet);
}

void PerfettoSink::Declare(const TraceProcess& process) {
  std::string packet;
  {
    pbf_writer writer(packet);
    writer.add_uint32(field::kSequenceId, kSequence);
    pbf_writer descriptor(writer, field::kTrackDescriptor);
    descriptor.add_uint64(field::kTrackUuid, kProcessTracks + process.id);
    if (process.pid == 0) {
      AddBytes(descriptor, field::kTrackName, process.name);
    } else {
      pbf_writer names(descriptor, field::kTrackProcess);
      names.add_int32(field::kPid, static_cast<int32_t>(process.pid));
      AddBytes(names, field::kProcessName, process.name);
    }
  }
  Emit(packet);
  if (process.pid != 0) DeclareContext(process);
}

void PerfettoSink::Declare(const TraceTrack& track) {
  if (track.gpu) return DeclareQueue(track);
  std::string packet;
  {
    pbf_writer writer(packet);
    writer.add_uint32(field::kSequenceId, kSequence);
    pbf_writer descriptor(writer, field::kTrackDescriptor);
    descriptor.add_uint64(field::kTrackUuid, track.id);
    descriptor.add_uint64(field::kTrackParent, kProcessTracks + track.process);
    AddBytes(descriptor, field::kTrackName, track.name);
  }
  Emit(packet);
}

void PerfettoSink::Declare(const TraceCounter& counter) {
  std::string packet;
  {
    pbf_writer writer(packet);
    writer.add_uint32(field::kSequenceId, kSequence);
    pbf_writer event(writer, field::kGpuCounterEvent);
    {
      pbf_writer descriptor(event, field::kCounterDescriptor);
      pbf_writer spec(descriptor, field::kSpecs);
      spec.add_uint32(field::kSpecId, counter.id);
      AddBytes(spec, field::kSpecName, counter.name);
      const field::MeasureUnit unit = UnitOf(counter.unit);
      if (unit != field::kNoUnit) spec.add_enum(field::kSpecNumeratorUnits, unit);
      if (counter.of_kernels) {
        spec.add_enum(field::kSpecGroups, field::kComputeGroup);
      } else if (counter.name.starts_with("dram__") || counter.name.starts_with("lts__")) {
        spec.add_enum(field::kSpecGroups, field::kMemoryGroup);
      }
    }
    event.add_int32(field::kGpuId, static_cast<int32_t>(counter.gpu));
  }
  Emit(packet);
}

uint64_t PerfettoSink::InternName(std::string_view name, pbf_writer& packet) {
  const auto known = names_.find(std::string(name));
  if (known != names_.end()) return known->second;
  if (names_.size() >= kMaxInternedNames) return 0;
  const uint64_t number = names_.size() + 1;
  names_.emplace(name, number);
  pbf_writer interned(packet, field::kInternedData);
  pbf_writer entry(interned, field::kEventNames);
  entry.add_uint64(field::kIid, number);
  AddBytes(entry, field::kName, name);
  return number;
}

void PerfettoSink::WriteQueueEvent(const TraceSlice& slice, uint32_t gpu, uint32_t process) {
  std::string packet;
  {
    pbf_writer writer(packet);
    writer.add_uint64(field::kTimestamp, slice.start_ns);
    writer.add_uint32(field::kSequenceId, kSequence);
    writer.add_uint32(field::kSequenceFlags, field::kNeedsIncrementalState);
    const uint64_t name = InternName(slice.name, writer);
    pbf_writer event(writer, field::kGpuRenderStageEvent);
    event.add_uint64(field::kRenderEventId, ++queue_events_);
    event.add_uint64(field::kRenderDuration, slice.end_ns - slice.start_ns);
    event.add_uint64(field::kRenderContext, process);
    event.add_int32(field::kRenderGpuId, static_cast<int32_t>(gpu));
    event.add_uint64(field::kRenderQueueIid, kFirstQueue + slice.track);
    event.add_uint64(field::kRenderStageIid, slice.launch ? kKernelStage : kCopyStage);
    if (name != 0) {
      event.add_uint64(field::kRenderNameIid, name);
    } else {
      AddBytes(event, field::kRenderName, slice.name);
    }
    pbf_writer launch(event, field::kRenderLaunch);
    if (slice.launch) {
      AddDim3(launch, field::kLaunchGrid, slice.launch->grid);
      AddDim3(launch, field::kLaunchBlock, slice.launch->block);
    }
    for (const TraceArgument& argument : slice.arguments) AddComputeArgument(launch, argument);
  }
  Emit(packet);
}

void PerfettoSink::WriteEvent(const TraceSlice& slice, uint32_t type, uint64_t time_ns) {
  std::string packet;
  pbf_writer writer(packet);
  writer.add_uint64(field::kTimestamp, time_ns);
  writer.add_uint32(field::kSequenceId, kSequence);
  writer.add_uint32(field::kSequenceFlags, field::kNeedsIncrementalState);
  const uint64_t name = type == field::kSliceEnd ? 0 : InternName(slice.name, writer);
  {
    pbf_writer event(writer, field::kTrackEvent);
    event.add_enum(field::kEventType, static_cast<int32_t>(type));
    event.add_uint64(field::kEventTrack, slice.track);
    if (type != field::kSliceEnd) {
      AddBytes(event, field::kCategories, slice.category);
      if (name != 0) {
        event.add_uint64(field::kNameIid, name);
      } else {
        AddBytes(event, field::kEventName, slice.name);
      }
      for (const TraceArgument& argument : slice.arguments) AddArgument(event, argument);
    }
  }
  Emit(packet);
}

void PerfettoSink::Write(const TraceSlice& slice) {
  SnapshotClocks(slice.start_ns);
  const auto queue = queues_.find(slice.track);
  if (queue != queues_.end()) {
    WriteQueueEvent(slice, queue->second.gpu, queue->second.process);
    return;
  }
  if (slice.end_ns == slice.start_ns) {
    WriteEvent(slice, field::kInstant, slice.start_ns);
    return;
  }
  WriteEvent(slice, field::kSliceBegin, slice.start_ns);
  WriteEvent(slice, field::kSliceEnd, slice.end_ns);
}

void PerfettoSink::WriteCounters(uint32_t gpu, uint64_t time_ns,
                                 std::span<const CounterValue> values, bool zero) {
  std::string packet;
  {
    pbf_writer writer(packet);
    writer.add_uint64(field::kTimestamp, time_ns);
    writer.add_uint32(field::kSequenceId, kSequence);
    pbf_writer event(writer, field::kGpuCounterEvent);
    for (const CounterValue& value : values) {
      if (!std::isfinite(value.value)) continue;
      pbf_writer counter(event, field::kCounters);
      counter.add_uint32(field::kCounterId, value.counter);
      counter.add_double(field::kCounterDouble, zero ? 0 : value.value);
    }
    event.add_int32(field::kGpuId, static_cast<int32_t>(gpu));
  }
  Emit(packet);
}

// A GPU counter's event holds for the time since the event before it. So a sample is written at its
// end, and one that does not follow the sample before begins with an event of its own.
void PerfettoSink::Write(const TraceSample& sample) {
  if (sample.values.empty()) return;
  SnapshotClocks(sample.start_ns);
  uint64_t& until_ns = sampled_until_[sample.values[0].counter];
  if (until_ns != sample.start_ns) WriteCounters(sample.gpu, sample.start_ns, sample.values, true);
  WriteCounters(sample.gpu, sample.end_ns, sample.values, false);
  until_ns = sample.end_ns;
}

}  // namespace utlz
