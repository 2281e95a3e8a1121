#include "tools/merge/frame_shift.h"

#include "proto/profile_frames.h"

namespace utlz {
namespace {

// Moves the times of a message. A frame of a new kind does not compile until it has its Move.
class Shifter {
 public:
  explicit Shifter(const FrameShift& shift) : shift_(shift) {}

  uint64_t time_ns() const { return time_ns_; }

  void Move(Process* message) { message->set_start_time_ns(Noted(message->start_time_ns())); }
  void Move(Device*) {}
  void Move(Context*) {}
  void Move(Strings*) {}
  void Move(Variants*) {}
  void Move(Stacks*) {}
  void Move(CompiledCode*) {}
  void Move(LaunchBatch* message) { message->set_base_ns(Noted(message->base_ns())); }
  void Move(CopyBatch* message) { message->set_base_ns(Noted(message->base_ns())); }
  void Move(MarkerBatch* message) { message->set_base_ns(Noted(message->base_ns())); }
  void Move(LaunchCallBatch* message) { message->set_base_ns(Noted(message->base_ns())); }
  void Move(ThreadStackBatch* message) { message->set_base_ns(Noted(message->base_ns())); }
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
  void Move(CounterSetting* message) {
    message->set_start_ns(Noted(message->start_ns()));
    message->set_end_ns(Noted(message->end_ns()));
  }
  void Move(KernelCodeRecord*) {}
  void Move(DeviceCeilings*) {}  // measured long before, at a time of no account here
  // The collector's own, which ShiftFrame refuses.
  void Move(RunStart*) {}
  void Move(RunEnd*) {}
  void Move(Alarm*) {}
  void Move(ApplicationReading*) {}
  void Move(Summary*) {}
  void Move(RanksSummary*) {}
  void Move(Index*) {}

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

}  // namespace

bool ShiftFrame(uint16_t type, std::string_view payload, const FrameShift& shift, std::string* out,
                uint64_t* time_ns) {
  Shifter shifter(shift);
  // The merged run has frames of its own.
  const bool of_any_run = type == FRAME_DEVICE_CEILINGS || type == FRAME_KERNEL_CODE;
  if (type >= FRAME_RUN_START && !of_any_run) return false;
  const bool carried = VisitFrame(type, [&](auto message) {
    if (!message.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return false;
    shifter.Move(&message);
    return message.SerializeToString(out);
  });
  if (carried) *time_ns = shifter.time_ns();
  return carried;
}

}  // namespace utlz
