#include "collector/session/agent_source.h"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include "proto/attach_control.h"

namespace utlz {

AgentSource::AgentSource(uint32_t index, pid_t pid, UniqueFd pidfd, RingMapping ring,
                         ReadAllowance allowance)
    : index_(index),
      pid_(pid),
      pidfd_(std::move(pidfd)),
      reader_(std::move(ring)),
      allowance_(allowance) {}

RingState AgentSource::Drain(uint64_t limit_bytes, const Sink& sink) {
  // Read before the positions: what was published before this flag is then sure to be seen.
  const bool ended = reader_.ring().header().producer.ended.load(std::memory_order_acquire) != 0;
  const uint64_t begin = reader_.bytes();
  RingFrame frame;
  while (reader_.bytes() - begin < limit_bytes) {
    const RingState state = reader_.Next(&frame);
    if (state == RingState::kPadding) continue;
    if (state != RingState::kFrame) {
      ended_orderly_ = ended && state == RingState::kEmpty;
      return state;
    }
    if (frame.type == FRAME_PROCESS_END) process_end_seen_ = true;
    sink(frame.type, frame.payload);
  }
  return RingState::kFrame;
}

bool AgentSource::ConnectionLasts() {
  constexpr int kMostMessages = 16;
  ControlAnswer answer;
  for (int i = 0; i < kMostMessages; ++i) {
    const ssize_t size = recv(connection_.get(), &answer, sizeof(answer), MSG_DONTWAIT);
    if (size <= 0) return size < 0 && (errno == EAGAIN || errno == EINTR);
  }
  return true;
}

void AgentSource::SetRequest(const AgentRequest& request) {
  RingControl& control = reader_.ring().header().control;
  control.requested_state.store(static_cast<uint32_t>(request.state), std::memory_order_relaxed);
  control.requested_flags.store(request.trace_flags, std::memory_order_relaxed);
  control.overhead_budget_ppm.store(request.overhead_budget_ppm, std::memory_order_relaxed);
  control.counters_yielded.store(request.ranges_allowed ? 1 : 0, std::memory_order_release);
}

void AgentSource::Announce() {
  reader_.ring().header().control.request.store(++request_, std::memory_order_release);
}

void AgentSource::SetWindow(uint64_t begin_ns, uint64_t end_ns) {
  RingControl& control = reader_.ring().header().control;
  control.window_end_ns.store(0, std::memory_order_release);
  control.window_begin_ns.store(begin_ns, std::memory_order_release);
  control.window_end_ns.store(end_ns, std::memory_order_release);
}

uint64_t AgentSource::WindowReadyNs() const {
  return reader_.ring().header().producer.window_ready_ns.load(std::memory_order_relaxed);
}

RecordsVote AgentSource::vote() const {
  const uint32_t word =
      reader_.ring().header().producer.records_vote.load(std::memory_order_relaxed);
  return word <= static_cast<uint32_t>(RecordsVote::kEnded) ? static_cast<RecordsVote>(word)
                                                            : RecordsVote::kUndecided;
}

void AgentSource::SetPeersVote(PeersVote vote) {
  reader_.ring().header().control.peers_vote.store(static_cast<uint32_t>(vote),
                                                   std::memory_order_relaxed);
}

bool AgentSource::Acknowledged() const {
  const RingProducer& producer = reader_.ring().header().producer;
  return producer.acknowledged_request.load(std::memory_order_acquire) >= request_ ||
         producer.state.load(std::memory_order_relaxed) == static_cast<uint32_t>(AgentState::kOff);
}

AgentReason AgentSource::OffReason(uint32_t* detail) const {
  const RingProducer& producer = reader_.ring().header().producer;
  if (producer.state.load(std::memory_order_acquire) != static_cast<uint32_t>(AgentState::kOff)) {
    return AgentReason::kNone;
  }
  *detail = producer.reason_detail.load(std::memory_order_relaxed);
  return static_cast<AgentReason>(producer.reason.load(std::memory_order_relaxed));
}

ProcessEnd AgentSource::EndAs(std::string_view how, uint64_t now_ns) const {
  const RingHeader& header = reader_.ring().header();
  ProcessEnd end;
  end.set_time_ns(now_ns);
  end.set_how(std::string(how));
  end.set_launches_dropped_ring(header.producer.launches_dropped.load(std::memory_order_relaxed));
  const uint32_t state = header.producer.state.load(std::memory_order_relaxed);
  if (state == static_cast<uint32_t>(AgentState::kTracing)) {
    const uint64_t flushed_ns = header.producer.flushed_until_ns.load(std::memory_order_relaxed);
    const uint64_t covered_ns = std::max(flushed_ns, header.start_realtime_ns);
    end.set_lost_at_most_ns(now_ns - std::min(now_ns, covered_ns));
  }
  return end;
}

}  // namespace utlz
