#include "inject/tracing/trace_pacer.h"

#include <time.h>

#include "inject/base/clock.h"
#include "inject/driver/one_agent.h"
#include "inject/tracing/collectors_window.h"
#include "inject/tracing/subscription.h"
#include "proto/tracing_cost.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kMillisecondNs = 1000000;
constexpr uint64_t kTurnNs = 20 * kMillisecondNs;
constexpr uint64_t kShortTurnNs = 5 * kMillisecondNs;
// After tracing was switched off: records of work that was under way come for a while.
constexpr uint64_t kQuietRoundNs = 10 * kMillisecondNs;
constexpr int kQuietRounds = 3;
constexpr int kMostRounds = 25;
constexpr int kRoundsBeforeOffAgain = 8;
// Records come later than what they tell of.
constexpr uint64_t kLatestRecordsNs = 300 * kMillisecondNs;

LaterPolicy LaterPolicyOf(uint32_t flags) {
  if ((flags & kTraceAgainAlways) != 0) return LaterPolicy::kAlways;
  return (flags & kTraceAgainNever) != 0 ? LaterPolicy::kNever : LaterPolicy::kAuto;
}

}  // namespace

TracePacer::TracePacer(const Parts& parts)
    : cupti_(parts.cupti),
      cuda_(parts.cuda),
      ring_(parts.ring),
      intake_(parts.intake),
      recorder_(parts.intake.recorder()),
      reports_(parts.reports),
      client_(parts.client),
      request_(parts.request),
      new_work_(parts.cupti, parts.cuda),
      stacks_(parts.cupti, parts.intake.recorder(), parts.client) {
  trace_.Create(&cupti_, &cuda_, &recorder_);
}

void TracePacer::Restart(const TraceBudget& budget) {
  budget_ = budget;
  window_cost_ = {};
  host_cost_ = {};
  late_records_ = {};
  late_window_ = {};
  new_work_.Restart();
  loads_seen_ = 0;
  first_paused_ns_ = 0;
  hook_known_ = false;
}

cupti::Result TracePacer::Start(bool calibration_due) {
  budget_.Start(MonotonicNs(), request_.budget_ppm);
  stacks_.ForgetReasons();
  const bool on = request_.wanted && client_.Registered();
  if (on) WatchNewWork();  // before any launch
  if (on) OpenStacks(calibration_due);
  const cupti::Result result = on ? trace_.On(request_.flags) : cupti::kSuccess;
  if (result != cupti::kSuccess) return result;
  later_.Start(LaterPolicyOf(request_.flags), request_.budget_ppm, on && trace_.process_wide());
  return result;
}

// The collector's, or one for new work before that, on the monotonic clock.
PlannedWindow TracePacer::NextWindow(uint64_t now_ns) const {
  // Clocks of this moment: one that jumps spoils the windows under way and no others.
  const PlannedWindow window = CollectorsWindow(ring_.header()->control, RealtimeNs(), now_ns);
  const PlannedWindow& new_work = new_work_.window();
  const bool collectors =
      (window.begin_ns != 0 && window.begin_ns <= new_work.begin_ns) || now_ns >= new_work.end_ns;
  return late_window_.Instead(collectors ? window : new_work, now_ns);
}

uint64_t TracePacer::PauseNs(uint64_t now_ns) const {
  if (!request_.wanted) return kTurnNs;
  if (request_.budget_ppm == 0) return SamplesThreads() ? kShortTurnNs : kTurnNs;
  const PlannedWindow window = NextWindow(now_ns);
  const bool soon = (trace_.on() && budget_.ChargesTime()) || stacks_.subscribed();
  uint64_t due_ns = now_ns + (soon ? kShortTurnNs : kTurnNs);
  for (const uint64_t edge_ns : {window.begin_ns, window.end_ns}) {
    if (edge_ns > now_ns && edge_ns < due_ns) due_ns = edge_ns;
  }
  return due_ns - now_ns;
}

void TracePacer::Follow(uint64_t now_ns, bool calibration_due) {
  if (!request_.wanted) budget_.Inactive(now_ns);
  recorder_.Lock();
  const RecorderCounts counts = recorder_.counts();
  const LaunchStacks::Counts stacks = recorder_.stacks().counts();
  budget_.SetStacksRead(stacks.calls + stacks.captured);
  recorder_.Unlock();
  WatchNewWork();
  new_work_.Follow(now_ns, counts.new_work, trace_.on(), budget_);
  FollowLaterWindows(now_ns);
  LearnHook(now_ns);
  const bool affordable = Affordable(now_ns, counts);
  const bool trace =
      request_.wanted && !client_.taken() && later_.MayTrace() && (affordable || calibration_due);
  if (trace && !trace_.on() && client_.clock_known()) BeginWindow(calibration_due);
  if (!trace && trace_.on() && MayPause()) Stop("the overhead budget");
  if (late_records_.StillCome(now_ns, counts.graph_nodes, trace_.on(), !client_.taken())) {
    trace_.OffAgain();
    later_.SwitchedOn();
  }
}

// By the account, which the collector hears of.
bool TracePacer::Affordable(uint64_t now_ns, const RecorderCounts& counts) {
  ReckonHostCost();
  if (trace_.on()) budget_.SetBeginning(BeginningNow());
  const bool affordable = budget_.ShouldTrace(now_ns, counts.launches - counts.graph_nodes,
                                              counts.graph_nodes, NextWindow(now_ns));
  const uint64_t ready_ns = budget_.ReadyNs(now_ns);
  ring_.header()->producer.window_ready_ns.store(
      ready_ns == 0 ? 0 : RealtimeNs() + (ready_ns - now_ns), std::memory_order_relaxed);
  return affordable;
}

// Records of the last moments are yet to come: they look like time in which nothing ran.
Beginning TracePacer::BeginningNow() {
  const uint64_t now_ns = RealtimeNs();
  const RecorderLock lock(&recorder_);
  const RecentWork& recent = recorder_.recent();
  return {later_.HoldsOn(recent.Before(now_ns), budget_.tracing_cost_ns()),
          later_.WindowsFollow(recent.SinceFirstLaunchBefore(now_ns - kLatestRecordsNs))};
}

// Ends a gap.
void TracePacer::BeginWindow(bool calibration_due) {
  intake_.Flush(0);
  SendStatus();  // what was counted before the gap
  LearnCost();
  recorder_.Lock();
  recorder_.GapEnded();
  recorder_.Unlock();
  SwitchOn(calibration_due);
}

// If CUPTI refuses, the next turn tries again: another client may have been the cause.
void TracePacer::SwitchOn(bool calibration_due) {
  RingProducer& producer = ring_.header()->producer;
  constexpr auto kRefused = static_cast<uint32_t>(AgentReason::kCuptiError);
  OpenStacks(calibration_due);
  const uint64_t begun_ns = MonotonicNs();
  const PlannedWindow window = NextWindow(begun_ns);
  if (const cupti::Result result = trace_.On(request_.flags); result != cupti::kSuccess) {
    stacks_.Close();
    producer.reason_detail.store(static_cast<uint32_t>(result), std::memory_order_relaxed);
    producer.reason.store(kRefused, std::memory_order_relaxed);
    return;
  }
  later_.SwitchedOn();
  window_cost_.Opened(MonotonicNs());
  if (begun_ns >= window.begin_ns) late_window_.SwitchedOn(window, MonotonicNs());
  if (producer.reason.load(std::memory_order_relaxed) == kRefused) {
    producer.reason.store(static_cast<uint32_t>(AgentReason::kNone), std::memory_order_relaxed);
  }
}

void TracePacer::OpenStacks(bool calibration_due) {
  if ((request_.flags & kTraceStacks) != 0) stacks_.Open(calibration_due);
}

bool TracePacer::SamplesThreads() const {
  return (request_.flags & kTraceThreadStacks) != 0 && trace_.on();
}

void TracePacer::WatchCaptures() {
  const bool watches = request_.wanted && (request_.flags & kTraceStacks) != 0;
  if (watches) stacks_.WatchCaptures(CaptureCallback);
  watches_captures_.store(watches, std::memory_order_relaxed);
}

void TracePacer::OnCapture(CaptureEvent event, bool calibration_due) {
  if (!request_.wanted || (request_.flags & kTraceStacks) == 0) return;
  stacks_.OnCapture(event, MonotonicNs(), calibration_due);
}

void TracePacer::FollowNewContexts() {
  if (!client_.taken()) trace_.FollowNewContexts();
}

void TracePacer::FollowStacks(uint64_t now_ns, bool calibration_due) {
  if (stacks_.subscribed()) stacks_.Turn(now_ns, calibration_due, SamplesThreads());
  if (trace_.on() && !calibration_due && stacks_.postponed()) OpenStacks(false);
  stacks_.ReadCompiledCode();
}

WorkSums TracePacer::RecentWorkBefore(uint64_t realtime_ns) {
  const RecorderLock lock(&recorder_);
  return recorder_.recent().Before(realtime_ns);
}

// Ends records for the process where windows would slow its launches more than they may, once
// nothing that was recorded is under way; begins windows after all where much is new since.
void TracePacer::FollowLaterWindows(uint64_t now_ns) {
  recorder_.Lock();
  const uint64_t loads = recorder_.counts().loads;
  const uint32_t variants = recorder_.variants();
  recorder_.Unlock();
  later_.SawNewWork(loads - loads_seen_);
  loads_seen_ = loads;
  if (later_.Due(now_ns) && !trace_.on() && !client_.taken()) DecideLaterWindows(now_ns, variants);
  ring_.header()->producer.records_vote.store(static_cast<uint32_t>(later_.vote()),
                                              std::memory_order_relaxed);
}

void TracePacer::DecideLaterWindows(uint64_t now_ns, uint32_t known_kernels) {
  later_.SetPeers(
      static_cast<PeersVote>(ring_.header()->control.peers_vote.load(std::memory_order_relaxed)));
  // CUPTI hands a thread's buffer over once every launch in it has run.
  intake_.Flush(0);
  const bool complete = intake_.buffers_outstanding() == 0 || later_.WaitedLongEnough(now_ns);
  const WorkSums before_pause = RecentWorkBefore(first_paused_realtime_ns_);
  if (!complete && later_.WouldEnd(before_pause)) return;
  if (later_.AwaitsPeers(now_ns, before_pause)) return;
  if (later_.Decide(before_pause, known_kernels)) trace_.OffForNewContexts();
}

void TracePacer::LearnCost() {
  recorder_.Lock();
  const RecorderCounts counts = recorder_.counts();
  recorder_.Unlock();
  window_cost_.Counted(counts.operations, budget_.cost_by_figures_ns());
  budget_.SetScale(window_cost_.Scale());
}

// By the beginning, once all of its records have come: nothing shorter shows how densely a program
// launches.
void TracePacer::LearnHook(uint64_t now_ns) {
  if (hook_known_ || first_paused_ns_ == 0) return;
  if (now_ns < first_paused_ns_ + LaterWindows::kDecisionNs) return;
  hook_known_ = true;
  const RecorderLock lock(&recorder_);
  const RecentWork& recent = recorder_.recent();
  budget_.SetHookShare(
      LaterWindows::HookShare(recent.SinceFirstLaunchBefore(first_paused_realtime_ns_)));
}

// Of the first window alone, which begins before CUDA does: its launches pay for record and hook.
// Launches of later windows would pay for the hook anyway, and the record by itself is a third of
// the price: kTracedLaunchNs is enough for them.
void TracePacer::ReckonHostCost() {
  if (later_.state() != RecordsState::kFromStart || !trace_.on()) return;
  const RecorderLock lock(&recorder_);
  host_cost_.AddUntil(RealtimeNs() - kLatestRecordsNs, recorder_.recent());
  budget_.SetHostCost(host_cost_.ns());
}

// Tracing that could only be switched off at the risk of the process goes on, over the budget.
bool TracePacer::MayPause() {
  if (!request_.wanted || client_.taken() || trace_.Pausable()) return true;
  ring_.header()->producer.reason.store(static_cast<uint32_t>(AgentReason::kNotPausable),
                                        std::memory_order_relaxed);
  return false;
}

void TracePacer::Stop(const char* reason) {
  if (!trace_.on()) return;
  window_cost_.Closed(MonotonicNs());
  if (first_paused_ns_ == 0) {
    first_paused_ns_ = MonotonicNs();
    first_paused_realtime_ns_ = RealtimeNs();
  }
  later_.Paused(MonotonicNs(), trace_.process_wide() && trace_.Pausable());
  trace_.Off(reason);
  stacks_.Close();
  intake_.Flush(0);
  recorder_.Lock();
  recorder_.GapBegan();
  recorder_.Unlock();
  late_records_.SwitchedOff(MonotonicNs());
}

void TracePacer::Lose() {
  static constexpr char kReason[] = "another CUPTI client took the activity buffers over";
  stacks_.GiveUp();
  // CUPTI may hand records of the time since the last flush to the other client.
  trace_.Lost(kReason, ring_.header()->producer.flushed_until_ns.load(std::memory_order_relaxed));
}

void TracePacer::EndGap() {
  if (!trace_.InGap()) return;
  SendStatus();  // what was counted before it
  trace_.EndGap();
}

void TracePacer::CountToTheEnd() {
  if (!client_.may_subscribe()) return;
  const uint32_t number = NumberOfOwnCall(cupti_, cuda_);
  if (number == 0) return;
  const RecorderLock lock(&recorder_);
  if (!trace_.on()) recorder_.GapEnded();
  recorder_.CountOwnCall(number);
}

bool TracePacer::LeaveLaunches(uint64_t now_ns) {
  if (!stacks_.subscribed()) return false;
  Stop(nullptr);
  stacks_.Close();  // where tracing was off
  stacks_.Turn(now_ns, /*calibration_due=*/false, /*sample_threads=*/false);
  return stacks_.launches_called_back();
}

// Switched off once, CUPTI 13.0 goes on recording the nodes of graphs that were instantiated while
// it traced: hence once more.
void TracePacer::Drain() {
  const auto launches = [this] {
    const RecorderLock lock(&recorder_);
    return recorder_.counts().launches;
  };
  trace_.Off(nullptr);
  stacks_.Close();
  trace_.OffAgain();
  uint64_t before = launches();
  int quiet = 0;
  for (int round = 0; round < kMostRounds && quiet < kQuietRounds; ++round) {
    intake_.Flush(0);
    const timespec pause{0, static_cast<long>(kQuietRoundNs)};
    nanosleep(&pause, nullptr);
    const uint64_t now = launches();
    quiet = now == before ? quiet + 1 : 0;
    before = now;
    if (round == kRoundsBeforeOffAgain) trace_.OffAgain();
  }
  trace_.OffForNewContexts();
}

TracingStatus TracePacer::Status() const {
  return {client_.taken(),   budget_.tracing_cost_ns(), static_cast<uint32_t>(later_.state()),
          stacks_.reason(),  stacks_.no_backward(),     stacks_.no_capture(),
          stacks_.captures()};
}

}  // namespace utlz::agent
