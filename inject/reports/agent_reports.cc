#include "inject/reports/agent_reports.h"

#include "inject/base/clock.h"
#include "inject/driver/primary_contexts.h"
#include "inject/reports/identity.h"
#include "inject/reports/memory_pool.h"
#include "proto/profile_fields.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kMillisecondNs = 1000000;
constexpr uint32_t kMaxDevices = 64;
static_assert(static_cast<uint32_t>(NoStack::kNotSubscribed) == wire::kNoStackNotSubscribed &&
              static_cast<uint32_t>(NoStack::kOtherLayout) == wire::kNoStackOtherLayout &&
              static_cast<uint32_t>(NoBackward::kOtherLayout) == wire::kNoBackwardOtherLayout &&
              static_cast<uint32_t>(NoCapture::kNoRoom) == wire::kNoCaptureNoRoom);

}  // namespace

void AgentReports::Restart() {
  devices_sent_ = 0;
  thread_cpu_ns_ = 0;
  start_delay_ns_ = 0;
  earlier_cpu_ns_ = ThreadCpuNs();
}

void AgentReports::SendRegular(const TracingStatus& tracing) {
  thread_cpu_ns_.store(ThreadCpuNs() - earlier_cpu_ns_, std::memory_order_relaxed);
  SendPoolMemory();
  SendStatus(tracing);
}

void AgentReports::SendIdentity() {
  Recorder& recorder = intake_.recorder();
  const RecorderLock lock(&recorder);
  ByteBuffer* message = recorder.Scratch();
  WriteProcess(cupti_, cuda_, message);
  recorder.Send(wire::kFrameProcess, *message);
}

// The driver answers only once cuInit, inside which the agent was started, has returned.
void AgentReports::SendDevices() {
  int count = 0;
  if (cuda_.device_get_count == nullptr || devices_sent_.load() != 0 ||
      cuda_.device_get_count(&count) != cuda::kSuccess) {
    return;
  }
  for (int ordinal = 0; ordinal < count && ordinal < static_cast<int>(kMaxDevices); ++ordinal) {
    Recorder& recorder = intake_.recorder();
    const RecorderLock lock(&recorder);
    ByteBuffer* message = recorder.Scratch();
    if (WriteDevice(cuda_, ordinal, message) && recorder.Send(wire::kFrameDevice, *message)) {
      devices_sent_.fetch_add(1);
    }
  }
}

void AgentReports::SendPoolMemory() {
  namespace field = wire::PoolMemory;
  const uint64_t devices = DevicesWithPrimaryContext(cuda_);
  for (uint32_t ordinal = 0; ordinal < kMaxDevices; ++ordinal) {
    PoolMemory memory;
    if ((devices >> ordinal & 1) == 0 ||
        !ReadPoolMemory(cuda_, static_cast<int>(ordinal), &memory)) {
      continue;
    }
    Recorder& recorder = intake_.recorder();
    const RecorderLock lock(&recorder);
    ByteBuffer* message = recorder.Scratch();
    PbWriter out(message);
    out.Fixed64(field::kTimeNs, RealtimeNs());
    out.Uint(field::kDeviceOrdinal, ordinal);
    out.Uint(field::kUsedBytes, memory.used_bytes);
    out.Uint(field::kReservedBytes, memory.reserved_bytes);
    out.Uint(field::kUsedHighBytes, memory.used_high_bytes);
    recorder.Send(wire::kFramePoolMemory, *message);
  }
}

void AgentReports::SendStatus(const TracingStatus& tracing) {
  namespace field = wire::AgentStatus;
  uint64_t now_ns = 0;
  size_t dropped = 0;
  if (!tracing.taken) {
    now_ns = RealtimeNs();
    if (cupti_.activity_get_dropped(nullptr, 0, &dropped) != cupti::kSuccess) dropped = 0;
  }
  Recorder& recorder = intake_.recorder();
  const RecorderLock lock(&recorder);
  recorder.Flush();  // so that what it counts has been sent
  recorder.AddDropped(dropped);
  const RecorderCounts& counts = recorder.counts();
  const RingProducer& producer = ring_.header()->producer;
  ByteBuffer* message = recorder.Scratch();
  PbWriter out(message);
  if (now_ns != 0) out.Fixed64(field::kTimeNs, now_ns);
  out.Uint(field::kLaunchesRecorded, counts.launches);
  out.Uint(field::kLaunchesUntimed, counts.untimed);
  out.Uint(field::kLaunchesDroppedRing, producer.launches_dropped.load(std::memory_order_relaxed));
  out.Uint(field::kRecordsDroppedCupti, counts.dropped_by_cupti);
  out.Uint(field::kRecordsUnknown, counts.unknown);
  out.Uint(field::kFramesWritten, ring_.frames_written());
  out.Uint(field::kBytesWritten, ring_.bytes_written());
  out.Uint(field::kCallbacks, intake_.callbacks());
  out.Uint(field::kEncodeNs, counts.encode_ns);
  out.Uint(field::kAgentThreadCpuNs, thread_cpu_ns_.load(std::memory_order_relaxed));
  out.Uint(field::kBuffersOutstanding, intake_.buffers_outstanding());
  out.Uint(field::kReason, producer.reason.load(std::memory_order_relaxed));
  out.Uint(field::kTracingCostNs, tracing.tracing_cost_ns);
  out.Uint(field::kOperationsRecorded, counts.operations.recorded());
  out.Uint(field::kOperationsNumbered, counts.operations.numbered());
  out.UintAlways(field::kOperationsInGaps, counts.operations.in_gaps());
  out.Uint(field::kRecordsState, tracing.records_state);
  const LaunchStacks::Counts stacks = recorder.stacks().counts();
  out.Uint(field::kNoStack, static_cast<uint64_t>(tracing.no_stack));
  out.Uint(field::kStackCalls, stacks.calls);
  out.Uint(field::kStackCallsWithout, stacks.without_stack);
  out.Uint(field::kStacksLost, stacks.lost);
  out.Uint(field::kNoBackward, static_cast<uint64_t>(tracing.no_backward));
  out.Uint(field::kBackwardCalls, stacks.backward.calls);
  out.Uint(field::kBackwardCallsWithout, stacks.backward.without);
  out.Uint(field::kStartDelayNs, start_delay_ns_.load(std::memory_order_relaxed));
  out.Uint(field::kEndDelayNs, end_delay_ns_.load(std::memory_order_relaxed));
  out.Uint(field::kNoCapture,
           static_cast<uint64_t>(tracing.no_capture != NoCapture::kNone || !stacks.nodes_are_full
                                     ? tracing.no_capture
                                     : NoCapture::kNoRoom));
  out.Uint(field::kCaptures, tracing.captures);
  out.Uint(field::kCapturedNodes, stacks.captured);
  const uint64_t flushed_ns = producer.flushed_until_ns.load(std::memory_order_relaxed);
  if (flushed_ns != 0) out.Fixed64(field::kFlushedUntilNs, flushed_ns);
  recorder.Send(wire::kFrameAgentStatus, *message);
}

void AgentReports::SendEnd(const char* how) {
  constexpr uint64_t kPatienceNs = 2000 * kMillisecondNs;
  Recorder& recorder = intake_.recorder();
  if (!recorder.LockWithin(kPatienceNs)) return;
  ByteBuffer* message = recorder.Scratch();
  PbWriter out(message);
  out.Fixed64(wire::ProcessEnd::kTimeNs, RealtimeNs());
  out.String(wire::ProcessEnd::kHow, how);
  recorder.Send(wire::kFrameProcessEnd, *message);
  recorder.Unlock();
  ring_.header()->producer.ended.store(1, std::memory_order_release);
}

}  // namespace utlz::agent
