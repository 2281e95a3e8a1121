// Field numbers of Perfetto's trace format (its protos/perfetto/trace), the few that are written.
#ifndef UTLZ_TOOLS_EXPORT_PERFETTO_FIELDS_H_
#define UTLZ_TOOLS_EXPORT_PERFETTO_FIELDS_H_

#include <cstdint>

namespace utlz::perfetto_fields {

enum Trace : uint32_t { kTracePacket = 1 };

enum Packet : uint32_t {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kGpuCounterEvent = 52,
  kGpuRenderStageEvent = 53,
  kTrackDescriptor = 60,
};
enum SequenceFlag : uint32_t { kIncrementalStateCleared = 1, kNeedsIncrementalState = 2 };

enum ClockSnapshot : uint32_t { kClock = 1, kPrimaryTraceClock = 2 };
enum Clock : uint32_t { kClockId = 1, kClockTimestamp = 2 };
enum BuiltinClock : uint32_t { kRealtime = 1, kBoottime = 6 };

enum TrackDescriptor : uint32_t {
  kTrackUuid = 1,
  kTrackName = 2,
  kTrackProcess = 3,
  kTrackParent = 5,
};
enum ProcessDescriptor : uint32_t { kPid = 1, kProcessName = 6 };

enum TrackEvent : uint32_t {
  kDebugAnnotations = 4,
  kEventType = 9,
  kNameIid = 10,
  kEventTrack = 11,
  kCategories = 22,
  kEventName = 23,
};
enum EventType : uint32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3 };

enum DebugAnnotation : uint32_t {
  kUintValue = 3,
  kDoubleValue = 5,
  kStringValue = 6,
  kAnnotationName = 10,
};

enum Interned : uint32_t { kEventNames = 2, kGraphicsContexts = 23, kGpuSpecifications = 24 };
enum EventName : uint32_t { kIid = 1, kName = 2 };

enum GpuCounterEvent : uint32_t { kCounterDescriptor = 1, kCounters = 2, kGpuId = 3 };
enum GpuCounter : uint32_t { kCounterId = 1, kCounterDouble = 3 };
enum GpuCounterDescriptor : uint32_t { kSpecs = 1 };
enum GpuCounterSpec : uint32_t {
  kSpecId = 1,
  kSpecName = 2,
  kSpecNumeratorUnits = 7,
  kSpecGroups = 10,
};
enum GpuCounterGroup : uint32_t { kMemoryGroup = 5, kComputeGroup = 6 };

// Work of a GPU's queue. Its queue and its stage are GpuSpecification entries, its context a
// GraphicsContext entry.
enum GpuRenderStageEvent : uint32_t {
  kRenderEventId = 1,
  kRenderDuration = 2,
  kRenderContext = 5,
  kRenderGpuId = 11,
  kRenderQueueIid = 13,
  kRenderStageIid = 14,
  kRenderNameIid = 20,
  kRenderLaunch = 21,
  kRenderName = 17,
};
enum GraphicsContext : uint32_t { kContextIid = 1, kContextPid = 2, kContextApi = 3 };
enum GraphicsApi : uint32_t { kCuda = 4 };
enum GpuSpecification : uint32_t {
  kSpecificationIid = 1,
  kSpecificationName = 2,
  kSpecificationCategory = 4
};
enum StageCategory : uint32_t { kOtherStage = 0, kComputeStage = 2 };
enum ComputeLaunch : uint32_t { kLaunchGrid = 1, kLaunchBlock = 2, kLaunchArguments = 3 };
enum Dim3 : uint32_t { kX = 1, kY = 2, kZ = 3 };
enum ComputeArgument : uint32_t {
  kComputeName = 2,
  kComputeUint = 4,
  kComputeDouble = 5,
  kComputeString = 6,
};
enum MeasureUnit : uint32_t {
  kNoUnit = 0,
  kByte = 7,
  kHertz = 13,
  kWatt = 29,
  kPercent = 37,
  kInstruction = 40,
};

}  // namespace utlz::perfetto_fields

#endif  // UTLZ_TOOLS_EXPORT_PERFETTO_FIELDS_H_
