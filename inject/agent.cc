#include "inject/agent.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "inject/base/clock.h"
#include "inject/base/timed_lock.h"
#include "inject/handshake.h"
#include "inject/identity.h"
#include "inject/ranges/one_agent.h"
#include "inject/tracing/subscription.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kMillisecondNs = 1000000;
constexpr uint64_t kTurnNs = 20 * kMillisecondNs;
constexpr uint64_t kShortTurnNs = 5 * kMillisecondNs;
constexpr uint64_t kReportNs = 1000 * kMillisecondNs;
constexpr uint64_t kPatienceNs = 2000 * kMillisecondNs;
constexpr uint64_t kPatienceInSetUpNs = 5000 * kMillisecondNs;  // ranges start in up to three

LaterPolicy LaterPolicyOf(uint32_t flags) {
  if ((flags & kTraceAgainAlways) != 0) return LaterPolicy::kAlways;
  return (flags & kTraceAgainNever) != 0 ? LaterPolicy::kNever : LaterPolicy::kAuto;
}

}  // namespace

bool Agent::Start(const char* socket_path, const RunToken* token) {
  if (!Connect(socket_path, token)) return false;
  // The way out is open from here on: the collector hears why, also where tracing never begins.
  if (!CreateRecorder() || !StartCupti({})) {
    SendEnd("off");
    return false;
  }
  if (!StartTracing()) return false;
  if (!StartThread(ThreadMain, kRunThreadName)) {
    trace_.Off(nullptr);
    Disable(AgentReason::kNoMemory, 0);
    return false;
  }
  return true;
}

bool Agent::Connect(const char* socket_path, const RunToken* token) {
  const int ring_file = ring_.Create(kRingDefaultDataBytes);
  if (ring_file < 0) return false;
  const bool met = MeetCollector(socket_path, token,
                                 {ring_file, kRingHeaderBytes + kRingDefaultDataBytes}, &welcome_);
  close(ring_file);
  return met;
}

bool Agent::CreateRecorder() {
  if (!pool_.Create() ||
      !recorder_.Create(&ring_, &cupti_, (welcome_.trace_flags & kTraceLaunchCalls) != 0)) {
    Disable(AgentReason::kNoMemory, 0);
    return false;
  }
  trace_.Create(&cupti_, &cuda_, &recorder_);
  new_work_.Create(&cupti_, &cuda_);
  return true;
}

bool Agent::StartCupti(const BroughtCupti& brought) {
  if (cuda_.device_get_count == nullptr) LoadCuda(&cuda_);
  if (has_cupti_) KeepCupti(&cupti_, brought);
  const CuptiLoad load = has_cupti_ ? CuptiLoad::kLoaded : LoadCupti(&cupti_, brought);
  SendIdentity();
  if (load != CuptiLoad::kLoaded) {
    Disable(load == CuptiLoad::kNotFound ? AgentReason::kNoCupti
            : load == CuptiLoad::kTooOld ? AgentReason::kCuptiTooOld
                                         : AgentReason::kCuptiError,
            cupti_.version);
    return false;
  }
  // Another client that took the buffers over since the last attachment may be using them.
  if (has_cupti_) {
    FollowTearDown();
    return true;
  }
  LimitDeviceMemory();
  gives_buffers_.store(true, std::memory_order_release);
  const cupti::Result result =
      waits_ ? registration_.RegisterUnlessHeld(cupti_, BufferRequestedCallback,
                                                BufferCompletedCallback)
             : registration_.Register(cupti_, BufferRequestedCallback, BufferCompletedCallback);
  if (result != cupti::kSuccess) {
    Disable(AgentReason::kCuptiError, static_cast<uint32_t>(result));
    return false;
  }
  // Nobody can have switched anything on without buffers; a program that runs may have had others'.
  may_subscribe_ = !waits_ || (registration_.Observable() && registration_.Ours());
  // Refused, CUPTI is prepared where the subscriber is one of the same copy.
  if (may_subscribe_ && !PrepareSubscriptions(cupti_)) may_subscribe_ = !HasOtherCupti(cupti_);
  OtherClient::OnSubscription(EndSubscription);
  OtherClient::OnRegistration(TakeBuffersBack);
  // What is loaded by now is watched before it can take over.
  WatchClients();
  has_cupti_ = true;
  return true;
}

// A client of another copy than ours calls that one, and no observer of ours may come in between.
void Agent::WatchClients() {
  if (LookForOtherCupti(&cupti_)) SendIdentity();
  if (!HasOtherCupti(cupti_)) other_client_.WatchImporters(cupti_, &turn_mutex_);
}

// Callbacks stay registered with that copy, where nothing is switched on. The next attachment may
// choose another.
void Agent::ForgetCupti() {
  wanted_ = false;
  WatchNewWork();
  gives_buffers_.store(false, std::memory_order_release);
  has_cupti_ = false;
  registration_ = {};
  const NamedCuptiFate named = cupti_.named;
  cupti_ = {};
  cupti_.named = named;
}

// As the collector's welcome says.
bool Agent::StartTracing() {
  SendDevices();  // where CUDA is up already, before any launch
  active_.store(true, std::memory_order_release);
  wanted_flags_ = welcome_.trace_flags;
  budget_ppm_ = welcome_.overhead_budget_ppm;
  budget_.Start(MonotonicNs(), budget_ppm_);
  wanted_ = welcome_.state == static_cast<uint32_t>(AgentState::kTracing);
  no_stack_ = NoStack::kNone;
  no_backward_ = NoBackward::kNone;
  const bool on = wanted_ && registration_.Ours();
  if (on) WatchNewWork();  // before any launch
  if (on) OpenStacks();
  const cupti::Result result = on ? trace_.On(welcome_.trace_flags) : cupti::kSuccess;
  if (result != cupti::kSuccess) {
    Disable(result == cupti::kErrorMultipleSubscribers ? AgentReason::kCuptiTaken
                                                       : AgentReason::kCuptiError,
            static_cast<uint32_t>(result));
    return false;
  }
  later_.Start(LaterPolicyOf(wanted_flags_), budget_ppm_, on && trace_.process_wide());
  ring_.header()->producer.state.store(welcome_.state, std::memory_order_relaxed);
  return true;
}

// What was set in CUPTI is forgotten once another client tore it down.
void Agent::FollowTearDown() {
  if (!other_client_.TakeTornDown()) return;
  LimitDeviceMemory();
  may_subscribe_ = registration_.Observable() && registration_.Holder() == 0;
  if (may_subscribe_) PrepareSubscriptions(cupti_);
}

// CUPTI's default lets a context take 250 device buffers of 3.2 MB.
void Agent::LimitDeviceMemory() {
  if (welcome_.device_pool_mib == 0) return;
  constexpr size_t kDeviceBufferBytes = 3200000;
  size_t limit = (size_t{welcome_.device_pool_mib} << 20) / kDeviceBufferBytes;
  if (limit == 0) limit = 1;
  size_t size = sizeof limit;
  cupti_.activity_set_attribute(cupti::kAttributeDeviceBufferPoolLimit, &size, &limit);
}

void Agent::Disable(AgentReason reason, uint32_t detail) {
  GiveUpStacks();  // while it is active: afterwards nobody else would
  active_.store(false, std::memory_order_release);
  if (!waits_) gives_buffers_.store(false, std::memory_order_release);
  RingProducer& producer = ring_.header()->producer;
  producer.reason_detail.store(detail, std::memory_order_relaxed);
  producer.reason.store(static_cast<uint32_t>(reason), std::memory_order_relaxed);
  producer.state.store(static_cast<uint32_t>(AgentState::kOff), std::memory_order_release);
}

bool Agent::StartThread(void* (*main)(void*), const char* name) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the target's signals are never ours to take
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, main, this);
  pthread_attr_destroy(&attributes);
  if (error == 0 && name != nullptr) pthread_setname_np(thread, name);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error == 0;
}

void* Agent::ThreadMain(void* agent) {
  static_cast<Agent*>(agent)->Run();
  return nullptr;
}

void Agent::Run() {
  while (Active()) {
    pthread_mutex_lock(&turn_mutex_);
    if (!exiting_) Turn(MonotonicNs());
    pthread_mutex_unlock(&turn_mutex_);
    const timespec pause{0, static_cast<long>(PauseNs(MonotonicNs()))};
    nanosleep(&pause, nullptr);
  }
}

uint64_t Agent::PauseNs(uint64_t now_ns) const {
  if (budget_ppm_ == 0 || !wanted_) return kTurnNs;
  const PlannedWindow window = NextWindow(now_ns);
  const bool soon = (trace_.on() && budget_.ChargesTime()) || launch_callbacks_.subscribed();
  uint64_t due_ns = now_ns + (soon ? kShortTurnNs : kTurnNs);
  for (const uint64_t edge_ns : {window.begin_ns, window.end_ns}) {
    if (edge_ns > now_ns && edge_ns < due_ns) due_ns = edge_ns;
  }
  return due_ns - now_ns;
}

void Agent::Turn(uint64_t now_ns) {
  ring_.header()->producer.heartbeat_ns.store(now_ns, std::memory_order_relaxed);
  // Before any launches, wherever that can be had: they are placed by it.
  SendDevices();
  FollowRequests(now_ns);
  FollowOtherClient(now_ns);
  FollowClock();
  FollowBudget(now_ns);
  if (!taken_) trace_.FollowNewContexts();
  if (launch_callbacks_.subscribed()) FollowStacks(now_ns);
  ranges_.Turn(cupti_, &recorder_, trace_.on() && RangesAllowed(), now_ns);
  if ((wanted_ || silence_due_ns_ != 0) && !taken_ && now_ns >= next_flush_ns_) {
    next_flush_ns_ = now_ns + uint64_t{welcome_.flush_period_ms} * kMillisecondNs;
    FlushRecords(0);
  }
  if (now_ns >= next_report_ns_) {
    WatchClients();
    next_report_ns_ = now_ns + kReportNs;
    Report();
  }
}

void Agent::FollowRequests(uint64_t now_ns) {
  RingControl& control = ring_.header()->control;
  const uint64_t request = control.request.load(std::memory_order_acquire);
  if (request == last_request_) return;
  last_request_ = request;
  wanted_ = control.requested_state.load(std::memory_order_relaxed) ==
            static_cast<uint32_t>(AgentState::kTracing);
  wanted_flags_ = control.requested_flags.load(std::memory_order_relaxed);
  const uint32_t budget_ppm = control.overhead_budget_ppm.load(std::memory_order_relaxed);
  if (budget_ppm != budget_ppm_) {
    budget_ppm_ = budget_ppm;
    budget_.Start(now_ns, budget_ppm);
  }
  if (!wanted_ || wanted_flags_ != trace_.flags()) StopTracing(nullptr);
  if (!wanted_) EndGap();
  if (wanted_) FollowBudget(now_ns);
  // A tool that is there for one attachment waits for the end of it, not for this.
  if (waits_ && !wanted_) return;
  RingProducer& producer = ring_.header()->producer;
  producer.state.store(
      static_cast<uint32_t>(wanted_ ? AgentState::kTracing : AgentState::kInactive),
      std::memory_order_release);
  producer.acknowledged_request.store(request, std::memory_order_release);
}

void Agent::OnBufferRequested(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = gives_buffers_.load(std::memory_order_acquire) ? pool_.Acquire() : nullptr;
  *size = *buffer == nullptr ? 0 : BufferPool::kBufferBytes;
  *max_records = 0;
  callbacks_.fetch_add(1, std::memory_order_relaxed);
}

void Agent::OnBufferCompleted(cupti::Context, uint32_t, uint8_t* buffer, size_t valid_bytes) {
  // After a hand-over between clients a buffer may come here that another one allocated.
  if (!gives_buffers_.load(std::memory_order_acquire) || !pool_.Owns(buffer)) return;
  recorder_.Lock();
  if (Active() && valid_bytes <= BufferPool::kBufferBytes) recorder_.Consume(buffer, valid_bytes);
  recorder_.Unlock();
  pool_.Release(buffer);
}

void Agent::OnDriverCall(const cupti::CallbackData& call) {
  if (Active()) ranges_.OnDriverCall(call);
}

void Agent::OnLaunch(const cupti::CallbackData& call) {
  if (call.site == cupti::kCallbackExit || !Active()) return;
  recorder_.stacks().OnLaunch(call.correlation_id);
}

void Agent::OnSubscription() {
  if (!Active()) return;
  ranges_.Abandon();
  GiveUpStacks();
}

void Agent::OnRegistration() {
  if (taken_ || !registration_.Ours() || !gives_buffers_.load(std::memory_order_acquire)) return;
  if (!Active()) {
    // Inactive: what CUPTI may have kept since the last attachment.
    cupti_.activity_flush_all(cupti::kFlushForced);
    return;
  }
  FollowClock();  // the client may have given CUPTI its own already
  new_work_.Off();
  FlushRecords(cupti::kFlushForced);
}

// Our thread may be where it loads CUPTI or sets ranges up, in libraries that are about to be torn
// down.
void Agent::OnMainThreadEnds() {
  main_thread_ended_ = true;  // what has not begun will not
  if (exiting_ || !(begins_tracing_ || ranges_.UnderWay())) return;
  if (!LockWithin(&turn_mutex_, kPatienceInSetUpNs)) return;
  if (Active()) ranges_.EndAtExit();
  pthread_mutex_unlock(&turn_mutex_);
}

void Agent::OnExitBegins() {
  if (exiting_ || (!waits_ && !Active())) return;
  if (!StopTurns() || !Active()) return;
  ranges_.EndAtExit();
  GiveUpStacks();
}

void Agent::OnExit() {
  if (ended_.exchange(true)) return;
  OnExitBegins();
  if (!Active()) return;
  SendDevices();
  const bool ours = wanted_ && registration_.Ours();
  if (ours) FlushRecords(cupti::kFlushForced);
  EndGap();
  if (ours && !taken_ && budget_ppm_ != 0) CountToTheEnd();
  SendStatus();
  SendEnd("exit");
}

// CUDA is taken down after this, and a call into it from our thread would end in a crash.
// False where it is still inside one.
bool Agent::StopTurns() {
  const bool locked =
      LockWithin(&turn_mutex_, ranges_.UnderWay() ? kPatienceInSetUpNs : kPatienceNs);
  exiting_ = true;
  if (locked) pthread_mutex_unlock(&turn_mutex_);
  return locked;
}

void Agent::OnFork() {
  exiting_ = true;  // nothing to wait for at the child's end
  active_.store(false, std::memory_order_release);
  gives_buffers_.store(false, std::memory_order_release);
  if (waits_) {
    control_socket_.CloseInChild();
    attachment_.Close();
  }
}

}  // namespace utlz::agent
