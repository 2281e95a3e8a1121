#include "inject/attachment_server.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "inject/base/clock.h"
#include "inject/driver/one_agent.h"
#include "inject/handshake.h"
#include "proto/attach_control.h"

namespace utlz::agent {

bool AttachmentServer::Serve() {
  if (!MeetCollector()) return false;
  const bool begun = turns_.Take([this] { return Begin(); });
  if (begun) {
    NameThread(kActiveThreadName);
    SendFirstAnswer();
  }
  Accompany(begun);
  return begun;
}

void AttachmentServer::Accompany(bool served) {
  while (served && control_socket_.StaysConnected(attachment_, recording_.PauseNs(MonotonicNs()))) {
    served = turns_.Take([this] { return Turn(); });
  }
  LeaveLaunches();
  turns_.Take([this] {
    End();
    return true;
  });
}

// In turns of its own: the process's end and other clients of CUPTI wait for the end of a turn.
void AttachmentServer::LeaveLaunches() {
  constexpr timespec kPause{0, 5'000'000};
  constexpr int kMostTurns = 400;  // twice as long as a thread is waited for
  const auto leave = [this] { return recording_.LeaveLaunches(MonotonicNs()); };
  for (int i = 0; i < kMostTurns && turns_.Take(leave); ++i) nanosleep(&kPause, nullptr);
}

void AttachmentServer::Close() {
  if (!turns_.ended()) attachment_.Close();
}

void AttachmentServer::CloseInChild() {
  control_socket_.CloseInChild();
  attachment_.Close();
}

void AttachmentServer::BeAlone() { alone_since_ns_ = RealtimeNs(); }

void AttachmentServer::NameThread(const char* name) const {
  pthread_setname_np(pthread_self(), is_of_service_ ? kRunThreadName : name);
}

void AttachmentServer::SendFirstAnswer() {
  const bool active = recording_.active();
  const bool held = active && !recording_.HasBuffers();
  SendAnswer(
      attachment_, active && !held ? ControlState::kTracing : ControlState::kWaiting,
      {held ? AgentReason::kBuffersTaken : AgentReason::kNone, 0, recording_.cupti().named.fate});
}

// Takes no turn (turns.h): a collector may need a second to answer, and the process's end and other
// clients of CUPTI wait for the end of a turn. If the collector refuses, nothing of CUPTI's was
// switched, which another client may be using.
bool AttachmentServer::MeetCollector() {
  RingWriter& ring = recording_.ring();
  const int ring_file = ring.Create(kRingDefaultDataBytes);
  if (ring_file < 0) {
    SendAnswer(attachment_, ControlState::kRefused, {AgentReason::kNoMemory});
    return false;
  }
  const int collector = attachment_.collector.Get();
  const bool met =
      collector >= 0 &&
      MeetCollectorOn(collector,
                      {ring_file, kRingHeaderBytes + kRingDefaultDataBytes, alone_since_ns_},
                      kAgentPatienceSeconds, recording_.welcome());
  close(ring_file);
  if (met) return true;
  ring.Destroy();
  SendAnswer(attachment_, ControlState::kInactive,
             {AgentReason::kNone, 0, recording_.cupti().named.fate});
  return false;
}

bool AttachmentServer::Begin() {
  if (!recording_.Restart(is_of_service_ ? TraceBudget() : TraceBudget::ForAttachment())) {
    return false;
  }
  if (recording_.CudaIsReady()) return BeginTracing();
  recording_.reports().SendIdentity();
  return true;
}

// Threads that CUPTI makes meanwhile inherit the name, which must not say anything of the agent.
bool AttachmentServer::BeginTracing() {
  pthread_setname_np(pthread_self(), "utlz-cupti");
  const bool loads_cupti = !recording_.has_cupti();
  end_.BeginsTracing();
  const bool begun =
      !end_.is_near() &&
      recording_.StartCupti({attachment_.named_cupti.Get(), attachment_.cupti.Get()}) &&
      recording_.StartTracing();
  end_.FinishedBeginning();
  // The end has been watched since before this: libcupti would be torn down first.
  if (loads_cupti) WatchProcessEndAnew();
  NameThread(kActiveThreadName);
  const bool taken = recording_.ring().header()->producer.reason.load(std::memory_order_relaxed) ==
                     static_cast<uint32_t>(AgentReason::kCuptiTaken);
  if (!begun && taken && HasOtherCupti(recording_.cupti())) recording_.ForgetCupti();
  return begun;
}

bool AttachmentServer::Turn() {
  if (recording_.active()) {
    recording_.Turn(MonotonicNs());
  } else {
    recording_.FollowRequestWhileOff();
    if (recording_.wanted() && recording_.CudaIsReady()) return BeginTracing();
  }
  return recording_.wanted() &&
         recording_.ring().header()->producer.state.load(std::memory_order_relaxed) !=
             static_cast<uint32_t>(AgentState::kOff);
}

void AttachmentServer::End() {
  RingHeader* header = recording_.ring().header();
  RingProducer& producer = header->producer;
  ended_off_ =
      producer.state.load(std::memory_order_relaxed) == static_cast<uint32_t>(AgentState::kOff);
  if (recording_.has_cupti()) recording_.EndTracing();
  if (!ended_off_) {
    producer.state.store(static_cast<uint32_t>(AgentState::kInactive), std::memory_order_relaxed);
  }
  producer.acknowledged_request.store(header->control.request.load(std::memory_order_acquire),
                                      std::memory_order_release);
  if (recording_.has_recorder()) recording_.End(ended_off_ ? "off" : "detached");
  const AnswerReason reason = {
      static_cast<AgentReason>(producer.reason.load(std::memory_order_relaxed)),
      producer.reason_detail.load(std::memory_order_relaxed), recording_.cupti().named.fate};
  recording_.ring().Destroy();
  NameThread(kInactiveThreadName);
  SendAnswer(attachment_, ended_off_ ? ControlState::kRefused : ControlState::kInactive, reason);
}

}  // namespace utlz::agent
