#include "tools/merge/frame_shift.h"

#include "proto/profile.pb.h"

namespace utlz {
namespace {

class Shifter {
 public:
  explicit Shifter(const FrameShift& shift) : shift_(shift) {}

  uint64_t time_ns() const { return time_ns_; }

  void Move(Process* message) { message->set_start_time_ns(Noted(message->start_time_ns())); }
  void Move(Clocks* message) {
    // CUPTI's clock is the wall clock; the monotonic one stays what it was on its host.
    for (auto& time : *message->mutable_cupti_ns()) time = Noted(time);
    for (auto& time : *message->mutable_realtime_ns()) time = Noted(time);
  }
  void Move(Device*) {}
  void Move(Context*) {}
  void Move(Stream*) {}
  void Move(Strings*) {}
  void Move(Variants*) {}
  void Move(Stacks*) {}
  void Move(Module* message) { message->set_time_ns(Noted(message->time_ns())); }
  void Move(LaunchBatch* message) { message->set_base_ns(Noted(message->base_ns())); }
  void Move(CopyBatch* message) { message->set_base_ns(Noted(message->base_ns())); }
  void Move(GraphLaunchBatch* message) {
    for (auto& time : *message->mutable_start_ns()) time = Noted(time);
  }
  void Move(MarkerBatch* message) { message->set_base_ns(Noted(message->base_ns())); }
  void Move(LaunchCallBatch* message) { message->set_base_ns(Noted(message->base_ns())); }
  void Move(CommunicationCallBatch* message) { message->set_base_ns(Noted(message->base_ns())); }
  void Move(TraceWindow* message) {
    message->set_start_ns(Noted(message->start_ns()));
    message->set_end_ns(Noted(message->end_ns()));
  }
  void Move(RangeBatch* message) {
    for (RangeBatch::Range& range : *message->mutable_ranges()) {
      range.set_start_ns(Noted(range.start_ns()));
      range.set_end_ns(Noted(range.end_ns()));
    }
  }
  void Move(AgentStatus* message) { message->set_time_ns(Noted(message->time_ns())); }
  void Move(PoolMemory* message) { message->set_time_ns(Noted(message->time_ns())); }
  void Move(ProcessEnd* message) { message->set_time_ns(Noted(message->time_ns())); }
  void Move(MetricSet* message) { message->set_id(message->id() + shift_.metric_set_offset); }
  void Move(SampleBatch* message) {
    message->set_base_ns(Noted(message->base_ns()));
    message->set_metric_set(message->metric_set() + shift_.metric_set_offset);
  }
  void Move(DeviceTotalsBatch* message) {
    for (auto& time : *message->mutable_time_ns()) time = Noted(time);
  }
  void Move(SamplerStatus* message) { message->set_time_ns(Noted(message->time_ns())); }
  void Move(DevicePeaks*) {}
  void Move(DeviceCeilings*) {}  // measured long before, at a time of no account here

 private:
  // Zero means that a time is not known, or still open.
  uint64_t Noted(uint64_t time_ns) {
    if (time_ns == 0) return 0;
    const auto moved = static_cast<int64_t>(time_ns - static_cast<uint64_t>(shift_.earlier_ns));
    time_ns_ = moved > 0 ? static_cast<uint64_t>(moved) : 0;
    return time_ns_;
  }

  FrameShift shift_;
  uint64_t time_ns_ = 0;
};

template <typename Message>
bool Carry(std::string_view payload, Shifter* shifter, std::string* out) {
  Message message;
  if (!message.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return false;
  shifter->Move(&message);
  return message.SerializeToString(out);
}

bool CarryOfType(uint16_t type, std::string_view payload, Shifter* shifter, std::string* out) {
  switch (type) {
    case FRAME_PROCESS:
      return Carry<Process>(payload, shifter, out);
    case FRAME_CLOCKS:
      return Carry<Clocks>(payload, shifter, out);
    case FRAME_DEVICE:
      return Carry<Device>(payload, shifter, out);
    case FRAME_CONTEXT:
      return Carry<Context>(payload, shifter, out);
    case FRAME_STREAM:
      return Carry<Stream>(payload, shifter, out);
    case FRAME_STRINGS:
      return Carry<Strings>(payload, shifter, out);
    case FRAME_VARIANTS:
      return Carry<Variants>(payload, shifter, out);
    case FRAME_STACKS:
      return Carry<Stacks>(payload, shifter, out);
    case FRAME_MODULE:
      return Carry<Module>(payload, shifter, out);
    case FRAME_LAUNCHES:
      return Carry<LaunchBatch>(payload, shifter, out);
    case FRAME_COPIES:
      return Carry<CopyBatch>(payload, shifter, out);
    case FRAME_GRAPH_LAUNCHES:
      return Carry<GraphLaunchBatch>(payload, shifter, out);
    case FRAME_MARKERS:
      return Carry<MarkerBatch>(payload, shifter, out);
    case FRAME_LAUNCH_CALLS:
      return Carry<LaunchCallBatch>(payload, shifter, out);
    case FRAME_COMMUNICATION_CALLS:
      return Carry<CommunicationCallBatch>(payload, shifter, out);
    case FRAME_TRACE_WINDOW:
      return Carry<TraceWindow>(payload, shifter, out);
    case FRAME_RANGES:
      return Carry<RangeBatch>(payload, shifter, out);
    case FRAME_AGENT_STATUS:
      return Carry<AgentStatus>(payload, shifter, out);
    case FRAME_PROCESS_END:
      return Carry<ProcessEnd>(payload, shifter, out);
    case FRAME_POOL_MEMORY:
      return Carry<PoolMemory>(payload, shifter, out);
    case FRAME_METRIC_SET:
      return Carry<MetricSet>(payload, shifter, out);
    case FRAME_SAMPLES:
      return Carry<SampleBatch>(payload, shifter, out);
    case FRAME_DEVICE_TOTALS:
      return Carry<DeviceTotalsBatch>(payload, shifter, out);
    case FRAME_SAMPLER_STATUS:
      return Carry<SamplerStatus>(payload, shifter, out);
    case FRAME_DEVICE_PEAKS:
      return Carry<DevicePeaks>(payload, shifter, out);
    case FRAME_DEVICE_CEILINGS:
      return Carry<DeviceCeilings>(payload, shifter, out);
    default:
      return false;
  }
}

}  // namespace

bool ShiftFrame(uint16_t type, std::string_view payload, const FrameShift& shift, std::string* out,
                uint64_t* time_ns) {
  Shifter shifter(shift);
  if (!CarryOfType(type, payload, &shifter, out)) return false;
  *time_ns = shifter.time_ns();
  return true;
}

}  // namespace utlz
