#include "tools/export/perfetto_sink.h"

#include <cmath>
#include <protozero/pbf_writer.hpp>

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
}

void PerfettoSink::Declare(const TraceTrack& track) {
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
    }
    event.add_int32(field::kGpuId, static_cast<int32_t>(counter.gpu));
  }
  Emit(packet);
}

void PerfettoSink::WriteEvent(const TraceSlice& slice, uint32_t type, uint64_t time_ns) {
  std::string packet;
  pbf_writer writer(packet);
  writer.add_uint64(field::kTimestamp, time_ns);
  writer.add_uint32(field::kSequenceId, kSequence);
  writer.add_uint32(field::kSequenceFlags, field::kNeedsIncrementalState);
  uint64_t name = 0;
  if (type != field::kSliceEnd) {
    const auto known = names_.find(std::string(slice.name));
    if (known != names_.end()) {
      name = known->second;
    } else if (names_.size() < kMaxInternedNames) {
      name = names_.size() + 1;
      names_.emplace(slice.name, name);
      pbf_writer interned(writer, field::kInternedData);
      pbf_writer entry(interned, field::kEventNames);
      entry.add_uint64(field::kIid, name);
      AddBytes(entry, field::kName, slice.name);
    }
  }
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
