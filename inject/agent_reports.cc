// What the agent reports of the process and of itself, and the handing over of records.

#include "inject/agent.h"
#include "inject/base/clock.h"
#include "inject/identity.h"
#include "inject/memory_pool.h"
#include "inject/record/primary_contexts.h"
#include "proto/profile_fields.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kMillisecondNs = 1000000;
constexpr uint32_t kMaxDevices = 64;
static_assert(static_cast<uint32_t>(NoStack::kNotSubscribed) == wire::kNoStackNotSubscribed &&
              static_cast<uint32_t>(NoStack::kOtherLayout) == wire::kNoStackOtherLayout);

}  // namespace

void Agent::FlushRecords(uint32_t flags) {
  const uint64_t now_ns = RealtimeNs();
  cupti_.activity_flush_all(flags);
  recorder_.Lock();
  recorder_.Flush();
  recorder_.Unlock();
  ring_.header()->producer.flushed_until_ns.store(now_ns, std::memory_order_release);
}

void Agent::Report() {
  thread_cpu_ns_.store(ThreadCpuNs() - earlier_cpu_ns_, std::memory_order_relaxed);
  SendPoolMemory();
  SendStatus();
}

void Agent::SendIdentity() {
  recorder_.Lock();
  ByteBuffer* message = recorder_.Scratch();
  WriteProcess(cupti_, cuda_, message);
  recorder_.Send(wire::kFrameProcess, *message);
  recorder_.Unlock();
}

// The driver answers only once cuInit, inside which the agent was started, has returned.
void Agent::SendDevices() {
  int count = 0;
  if (cuda_.device_get_count == nullptr || devices_sent_.load() != 0 ||
      cuda_.device_get_count(&count) != cuda::kSuccess) {
    return;
  }
  for (int ordinal = 0; ordinal < count && ordinal < static_cast<int>(kMaxDevices); ++ordinal) {
    recorder_.Lock();
    ByteBuffer* message = recorder_.Scratch();
    if (WriteDevice(cuda_, ordinal, message) && recorder_.Send(wire::kFrameDevice, *message)) {
      devices_sent_.fetch_add(1);
    }
    recorder_.Unlock();
  }
}

void Agent::SendPoolMemory() {
  namespace field = wire::PoolMemory;
  const uint64_t devices = DevicesWithPrimaryContext(cuda_);
  for (uint32_t ordinal = 0; ordinal < kMaxDevices; ++ordinal) {
    PoolMemory memory;
    if ((devices >> ordinal & 1) == 0 ||
        !ReadPoolMemory(cuda_, static_cast<int>(ordinal), &memory)) {
      continue;
    }
    recorder_.Lock();
    ByteBuffer* message = recorder_.Scratch();
    PbWriter out(message);
    out.Fixed64(field::kTimeNs, RealtimeNs());
    out.Uint(field::kDeviceOrdinal, ordinal);
    out.Uint(field::kUsedBytes, memory.used_bytes);
    out.Uint(field::kReservedBytes, memory.reserved_bytes);
    out.Uint(field::kUsedHighBytes, memory.used_high_bytes);
    recorder_.Send(wire::kFramePoolMemory, *message);
    recorder_.Unlock();
  }
}

void Agent::SendStatus() {
  namespace field = wire::AgentStatus;
  uint64_t now_ns = 0;
  size_t dropped = 0;
  // CUPTI is left alone while another client has it: that one may tear it down at any moment.
  if (!taken_) {
    now_ns = RealtimeNs();
    if (cupti_.activity_get_dropped(nullptr, 0, &dropped) != cupti::kSuccess) dropped = 0;
  }
  recorder_.Lock();
  recorder_.Flush();  // so that what it counts has been sent
  recorder_.AddDropped(dropped);
  const RecorderCounts& counts = recorder_.counts();
  const RingProducer& producer = ring_.header()->producer;
  ByteBuffer* message = recorder_.Scratch();
  PbWriter out(message);
  if (now_ns != 0) out.Fixed64(field::kTimeNs, now_ns);
  out.Uint(field::kLaunchesRecorded, counts.launches);
  out.Uint(field::kLaunchesUntimed, counts.untimed);
  out.Uint(field::kLaunchesDroppedRing, producer.launches_dropped.load(std::memory_order_relaxed));
  out.Uint(field::kRecordsDroppedCupti, counts.dropped_by_cupti);
  out.Uint(field::kRecordsUnknown, counts.unknown);
  out.Uint(field::kFramesWritten, ring_.frames_written());
  out.Uint(field::kBytesWritten, ring_.bytes_written());
  out.Uint(field::kCallbacks, callbacks_.load(std::memory_order_relaxed));
  out.Uint(field::kEncodeNs, counts.encode_ns);
  out.Uint(field::kAgentThreadCpuNs, thread_cpu_ns_.load(std::memory_order_relaxed));
  out.Uint(field::kBuffersOutstanding, pool_.outstanding());
  out.Uint(field::kReason, producer.reason.load(std::memory_order_relaxed));
  out.Uint(field::kTracingCostNs, budget_.tracing_cost_ns());
  out.Uint(field::kOperationsRecorded, counts.operations.recorded());
  out.Uint(field::kOperationsNumbered, counts.operations.numbered());
  out.UintAlways(field::kOperationsInGaps, counts.operations.in_gaps());
  out.Uint(field::kRecordsState, static_cast<uint32_t>(later_.state()));
  const LaunchStacks::Counts stacks = recorder_.stacks().counts();
  out.Uint(field::kNoStack, static_cast<uint64_t>(no_stack_));
  out.Uint(field::kStackCalls, stacks.calls);
  out.Uint(field::kStackCallsWithout, stacks.without_stack);
  out.Uint(field::kStacksLost, stacks.lost);
  out.Uint(field::kNoBackward, static_cast<uint64_t>(no_backward_));
  out.Uint(field::kBackwardCalls, stacks.backward.calls);
  out.Uint(field::kBackwardCallsWithout, stacks.backward.without);
  const uint64_t flushed_ns = producer.flushed_until_ns.load(std::memory_order_relaxed);
  if (flushed_ns != 0) out.Fixed64(field::kFlushedUntilNs, flushed_ns);
  recorder_.Send(wire::kFrameAgentStatus, *message);
  recorder_.Unlock();
}

void Agent::SendEnd(const char* how) {
  constexpr uint64_t kPatienceNs = 2000 * kMillisecondNs;
  if (!recorder_.LockWithin(kPatienceNs)) return;
  ByteBuffer* message = recorder_.Scratch();
  PbWriter out(message);
  out.Fixed64(wire::ProcessEnd::kTimeNs, RealtimeNs());
  out.String(wire::ProcessEnd::kHow, how);
  recorder_.Send(wire::kFrameProcessEnd, *message);
  recorder_.Unlock();
  ring_.header()->producer.ended.store(1, std::memory_order_release);
}

}  // namespace utlz::agent
