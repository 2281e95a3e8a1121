// The agent that waits for tools: attachment by attachment, and inactive in between, blocked in
// poll with nothing of CUPTI's switched on.

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "inject/agent.h"
#include "inject/base/clock.h"
#include "inject/handshake.h"
#include "inject/ranges/one_agent.h"
#include "proto/attach_control.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kMillisecondNs = 1000000;
// After tracing was switched off: records of work that was under way come for a while.
constexpr uint64_t kQuietRoundNs = 10 * kMillisecondNs;
constexpr int kQuietRounds = 3;
constexpr int kMostRounds = 25;
// A program that synchronizes at all does so within a second.
constexpr int kMostRangeRounds = 200;
constexpr uint64_t kRangeRoundNs = 5000000;
constexpr int kRoundsBeforeOffAgain = 8;

}  // namespace

bool Agent::WaitForTools(OwnDescriptor connection) {
  waits_ = true;
  first_connection_ = connection;
  return StartThread(LoadedThreadMain, nullptr);
}

bool Agent::ListenForTools() {
  waits_ = true;
  control_socket_.Open({}, /*listen=*/true);
  return StartThread(WaitingThreadMain, kInactiveThreadName);
}

void* Agent::LoadedThreadMain(void* agent) {
  pthread_setname_np(pthread_self(), kInactiveThreadName);
  auto* one = static_cast<Agent*>(agent);
  one->control_socket_.Open(one->first_connection_, /*listen=*/false);
  return WaitingThreadMain(agent);
}

void* Agent::WaitingThreadMain(void* agent) {
  WatchProcessEnds();
  static_cast<Agent*>(agent)->ServeAttachments();
  return nullptr;
}

void Agent::ServeAttachments() {
  while (!exiting_ && control_socket_.WaitForAttachment(&attachment_)) {
    Serve(attachment_);
    CloseAttachment();
  }
}

// At the process's end the connection stays: its end says that no more records come, and those of
// the end still do.
void Agent::CloseAttachment() {
  if (!exiting_) attachment_.Close();
}

bool Agent::Serve(const Attachment& attachment) {
  if (!MeetVisitor(attachment)) return false;
  pthread_mutex_lock(&turn_mutex_);
  const bool begun = !exiting_ && BeginAttachment(attachment);
  pthread_mutex_unlock(&turn_mutex_);
  if (begun) {
    NameThread(kActiveThreadName);
    SendFirstAnswer(attachment);
  }
  Accompany(attachment, begun);
  return begun;
}

// To the attachment's end, `served` while there is something to do for it.
void Agent::Accompany(const Attachment& attachment, bool served) {
  while (served && control_socket_.StaysConnected(attachment, PauseNs(MonotonicNs()))) {
    pthread_mutex_lock(&turn_mutex_);
    served = !exiting_ && TurnWhileAttached(attachment);
    pthread_mutex_unlock(&turn_mutex_);
  }
  pthread_mutex_lock(&turn_mutex_);
  if (!exiting_) EndAttachment(attachment);
  pthread_mutex_unlock(&turn_mutex_);
}

void Agent::SendFirstAnswer(const Attachment& attachment) {
  const bool held = Active() && !registration_.Ours();
  SendAnswer(attachment, Active() && !held ? ControlState::kTracing : ControlState::kWaiting,
             {held ? AgentReason::kBuffersTaken : AgentReason::kNone, 0, cupti_.named.fate});
}

// Without the lock: the process's end and other clients of CUPTI wait for that one, and a collector
// may take a second. A collector that refuses has nothing of CUPTI's switched, which another client
// may be using.
bool Agent::MeetVisitor(const Attachment& attachment) {
  const int ring_file = ring_.Create(kRingDefaultDataBytes);
  if (ring_file < 0) {
    SendAnswer(attachment, ControlState::kRefused, {AgentReason::kNoMemory});
    return false;
  }
  const int collector = attachment.collector.Get();
  const bool met =
      collector >= 0 &&
      MeetCollectorOn(collector,
                      {ring_file, kRingHeaderBytes + kRingDefaultDataBytes, alone_since_ns_},
                      kAgentPatienceSeconds, &welcome_);
  close(ring_file);
  if (met) return true;
  ring_.Destroy();
  SendAnswer(attachment, ControlState::kInactive, {AgentReason::kNone, 0, cupti_.named.fate});
  return false;
}

bool Agent::BeginAttachment(const Attachment& attachment) {
  if (!has_recorder_ && !CreateRecorder()) return false;
  has_recorder_ = true;
  recorder_.Restart((welcome_.trace_flags & kTraceLaunchCalls) != 0);
  wanted_ = true;
  taken_ = false;
  budget_ = IsOfService() ? TraceBudget() : TraceBudget::ForAttachment();
  window_cost_ = {};
  silence_due_ns_ = launches_when_silent_ = 0;
  new_work_seen_ = loads_seen_ = 0;
  has_new_work_ = false;
  new_work_window_ = {};
  last_request_ = next_flush_ns_ = next_report_ns_ = 0;
  devices_sent_ = 0;
  callbacks_ = 0;
  thread_cpu_ns_ = 0;
  earlier_cpu_ns_ = ThreadCpuNs();
  cupti_.named = {};
  if (CudaIsReady()) return BeginTracing(attachment);
  SendIdentity();
  return true;
}

// Threads that CUPTI makes meanwhile inherit the name, which must not say anything of the agent.
bool Agent::BeginTracing(const Attachment& attachment) {
  pthread_setname_np(pthread_self(), "utlz-cupti");
  const bool loads_cupti = !has_cupti_;
  begins_tracing_ = true;
  const bool begun = !main_thread_ended_ &&
                     StartCupti({attachment.named_cupti.Get(), attachment.cupti.Get()}) &&
                     StartTracing();
  begins_tracing_ = false;
  // The end has been watched since before this: libcupti would be torn down first.
  if (loads_cupti) WatchProcessEndAnew();
  NameThread(kActiveThreadName);
  const bool taken = ring_.header()->producer.reason.load(std::memory_order_relaxed) ==
                     static_cast<uint32_t>(AgentReason::kCuptiTaken);
  if (!begun && taken && HasOtherCupti(cupti_)) ForgetCupti();
  return begun;
}

// CUPTI comes into the process when its CUDA is there: loaded earlier it might not be the copy that
// the program's framework brings.
bool Agent::CudaIsReady() {
  int count = 0;
  if (cuda_.device_get_count == nullptr && !LoadCuda(&cuda_)) return false;
  return cuda_.device_get_count(&count) == cuda::kSuccess;
}

bool Agent::TurnWhileAttached(const Attachment& attachment) {
  RingHeader* header = ring_.header();
  if (Active()) {
    Turn(MonotonicNs());
  } else {
    const RingControl& control = header->control;
    wanted_ = control.request.load(std::memory_order_acquire) == 0 ||
              control.requested_state.load(std::memory_order_relaxed) ==
                  static_cast<uint32_t>(AgentState::kTracing);
    if (wanted_ && CudaIsReady()) return BeginTracing(attachment);
  }
  return wanted_ && header->producer.state.load(std::memory_order_relaxed) !=
                        static_cast<uint32_t>(AgentState::kOff);
}

void Agent::EndRanges() {
  for (int round = 0; round < kMostRangeRounds && ranges_.EndSoon(); ++round) {
    const timespec pause{0, static_cast<long>(kRangeRoundNs)};
    nanosleep(&pause, nullptr);
  }
  ranges_.Abandon();
}

void Agent::EndAttachment(const Attachment& attachment) {
  RingHeader* header = ring_.header();
  RingProducer& producer = header->producer;
  const bool off =
      producer.state.load(std::memory_order_relaxed) == static_cast<uint32_t>(AgentState::kOff);
  attachment_ended_off_ = off;
  if (has_cupti_) {
    EndRanges();
    wanted_ = false;
    WatchNewWork();
    if (!taken_) StopAndDrain();
    GiveUpStacks();
    EndGap();
    SendStatus();
  }
  if (!off) {
    producer.state.store(static_cast<uint32_t>(AgentState::kInactive), std::memory_order_relaxed);
  }
  producer.acknowledged_request.store(header->control.request.load(std::memory_order_acquire),
                                      std::memory_order_release);
  if (has_recorder_) {
    SendEnd(off ? "off" : "detached");
    // Under the lock, so that no buffer is being read from here on.
    recorder_.Lock();
    active_.store(false, std::memory_order_release);
    recorder_.Unlock();
    recorder_.Restart(false);
    pool_.GiveMemoryBack();
  }
  const AnswerReason reason = {
      static_cast<AgentReason>(producer.reason.load(std::memory_order_relaxed)),
      producer.reason_detail.load(std::memory_order_relaxed), cupti_.named.fate};
  ring_.Destroy();
  NameThread(kInactiveThreadName);
  SendAnswer(attachment, off ? ControlState::kRefused : ControlState::kInactive, reason);
}

// Switches tracing off and takes what is still under way. Switched off once, CUPTI 13.0 goes on
// recording the nodes of graphs that were instantiated while it traced: hence once more.
void Agent::StopAndDrain() {
  const auto launches = [this] {
    recorder_.Lock();
    const uint64_t count = recorder_.counts().launches;
    recorder_.Unlock();
    return count;
  };
  trace_.Off(nullptr);
  CloseStacks();
  trace_.OffAgain();
  uint64_t before = launches();
  int quiet = 0;
  for (int round = 0; round < kMostRounds && quiet < kQuietRounds; ++round) {
    FlushRecords(0);
    const timespec pause{0, static_cast<long>(kQuietRoundNs)};
    nanosleep(&pause, nullptr);
    const uint64_t now = launches();
    quiet = now == before ? quiet + 1 : 0;
    before = now;
    if (round == kRoundsBeforeOffAgain) trace_.OffAgain();
  }
  trace_.OffForNewContexts();
}

}  // namespace utlz::agent
