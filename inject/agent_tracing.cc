// When the agent traces: as its budget allows, while nobody else has CUPTI's buffers.

#include "inject/agent.h"
#include "inject/base/clock.h"
#include "inject/python/python_layout.h"
#include "inject/ranges/one_agent.h"
#include "inject/tracing/collectors_window.h"
#include "inject/tracing/subscription.h"
#include "proto/tracing_cost.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kMillisecondNs = 1000000;
// Records of launches from before tracing was switched off come for this long.
constexpr uint64_t kStragglersNs = 150 * kMillisecondNs;
// Later ones are none of theirs.
constexpr uint64_t kSilentNs = 1000 * kMillisecondNs;

}  // namespace

PlannedWindow Agent::NextWindow(uint64_t now_ns) const {
  // Clocks of this moment: one that jumps spoils the windows under way and no others.
  const PlannedWindow window = CollectorsWindow(ring_.header()->control, RealtimeNs(), now_ns);
  if (window.begin_ns != 0 && window.begin_ns <= new_work_window_.begin_ns) return window;
  return now_ns < new_work_window_.end_ns ? new_work_window_ : window;
}

// torch.profiler and its like take the buffers, trace for a while and leave everything switched
// off, or tear CUPTI down. Step aside while they trace; go on once they have been done for a while.
void Agent::FollowOtherClient(uint64_t now_ns) {
  constexpr uint64_t kGraceNs = 500 * kMillisecondNs;
  static constexpr char kReason[] = "another CUPTI client took the activity buffers over";
  RingProducer& producer = ring_.header()->producer;
  if (!taken_ && (other_client_.TornDown() || !registration_.Ours())) {
    taken_ = true;
    GiveUpStacks();
    // What was recorded since the last hand-over may end in the other client's hands.
    trace_.Lost(kReason, producer.flushed_until_ns.load(std::memory_order_relaxed));
    producer.reason.store(static_cast<uint32_t>(AgentReason::kBuffersTaken),
                          std::memory_order_relaxed);
    other_client_.Watch(cupti_, registration_.Holder(), &turn_mutex_);
  }
  if (!taken_ || !other_client_.DoneFor(now_ns, kGraceNs)) return;
  FollowTearDown();
  if (registration_.Register(cupti_, BufferRequestedCallback, BufferCompletedCallback) ==
      cupti::kSuccess) {
    taken_ = false;
    other_client_.Forget();
    producer.reason.store(static_cast<uint32_t>(AgentReason::kNone), std::memory_order_relaxed);
  }
}

// What another client made CUPTI's clock is found out anew each turn.
void Agent::FollowClock() {
  if (taken_) return;
  uint64_t cupti_ticks = 0;
  if (cupti_.get_timestamp(&cupti_ticks) != cupti::kSuccess) return;
  const uint64_t realtime_ns = RealtimeNs();
  recorder_.Lock();
  recorder_.clock().Pair(cupti_ticks, realtime_ns);
  clock_known_ = recorder_.clock().Known();
  recorder_.Unlock();
}

// Switches tracing on and off as the account allows; ranges need it on throughout.
void Agent::FollowBudget(uint64_t now_ns) {
  if (!wanted_) budget_.Inactive(now_ns);
  recorder_.Lock();
  const RecorderCounts counts = recorder_.counts();
  budget_.SetStacksRead(recorder_.stacks().counts().calls);
  recorder_.Unlock();
  FollowNewWork(now_ns, counts.new_work);
  FollowLaterWindows(now_ns);
  const bool affordable = budget_.ShouldTrace(now_ns, counts.launches - counts.graph_nodes,
                                              counts.graph_nodes, NextWindow(now_ns)) ||
                          later_.HoldsOn(RecentWorkBefore(RealtimeNs()), budget_.tracing_cost_ns());
  const uint64_t ready_ns = budget_.ReadyNs(now_ns);
  ring_.header()->producer.window_ready_ns.store(
      ready_ns == 0 ? 0 : RealtimeNs() + (ready_ns - now_ns), std::memory_order_relaxed);
  const bool calibrating = RangesAllowed() && !ranges_.Finished();
  const bool trace = wanted_ && !taken_ && later_.MayTrace() && (affordable || calibrating);
  if (trace && !trace_.on() && clock_known_) {
    FlushRecords(0);
    SendStatus();  // what was counted before the gap
    LearnCost();
    recorder_.Lock();
    recorder_.GapEnded();
    recorder_.Unlock();
    OpenWindow();
  }
  if (!trace && trace_.on() && MayPause()) StopTracing("the overhead budget");
  StopLateRecords(now_ns, counts.launches);
}

// What is new between two windows is traced soon: it may be over, or rare, when the next one comes.
// Where the account is overdrawn, as soon as it is not.
void Agent::FollowNewWork(uint64_t now_ns, uint64_t new_work) {
  constexpr uint64_t kPauseNs = 1000 * kMillisecondNs;
  WatchNewWork();
  if (new_work != new_work_seen_) has_new_work_ = new_work_.on();
  new_work_seen_ = new_work;
  if (trace_.on()) has_new_work_ = false;
  if (!has_new_work_ || now_ns < new_work_window_.end_ns) return;
  if (new_work_window_.end_ns != 0 && now_ns < new_work_window_.end_ns + kPauseNs) return;
  const PlannedWindow window = budget_.Unplanned(now_ns);
  if (window.end_ns != 0) new_work_window_ = window;
}

void Agent::WatchNewWork() {
  if (taken_) {
    new_work_.Lost();
  } else if (wanted_ && budget_ppm_ != 0 && (wanted_flags_ & kTraceNewWork) != 0) {
    new_work_.On();
  } else {
    new_work_.Off();
  }
}

// What CUPTI refuses is asked for again at the next turn: it may have been another client's doing.
void Agent::OpenWindow() {
  RingProducer& producer = ring_.header()->producer;
  constexpr auto kRefused = static_cast<uint32_t>(AgentReason::kCuptiError);
  OpenStacks();
  if (const cupti::Result result = trace_.On(wanted_flags_); result != cupti::kSuccess) {
    CloseStacks();
    producer.reason_detail.store(static_cast<uint32_t>(result), std::memory_order_relaxed);
    producer.reason.store(kRefused, std::memory_order_relaxed);
    return;
  }
  later_.SwitchedOn();
  window_cost_.Opened(MonotonicNs());
  if (producer.reason.load(std::memory_order_relaxed) == kRefused) {
    producer.reason.store(static_cast<uint32_t>(AgentReason::kNone), std::memory_order_relaxed);
  }
}

WorkSums Agent::RecentWorkBefore(uint64_t realtime_ns) {
  recorder_.Lock();
  const WorkSums sums = recorder_.recent().Before(realtime_ns);
  recorder_.Unlock();
  return sums;
}

// Ends records for the process where windows would slow its launches more than they may, once
// nothing that was recorded is under way; begins windows after all where much is new since.
void Agent::FollowLaterWindows(uint64_t now_ns) {
  recorder_.Lock();
  const uint64_t loads = recorder_.counts().loads;
  const uint32_t variants = recorder_.variants();
  recorder_.Unlock();
  later_.SawNewWork(loads - loads_seen_);
  loads_seen_ = loads;
  if (!later_.Due(now_ns) || trace_.on() || taken_) return;
  if (later_.Decide(RecentWorkBefore(paused_realtime_ns_), variants)) trace_.OffForNewContexts();
}

// Callbacks come before kinds of records and go after them, so that what is recorded has a stack.
void Agent::OpenStacks() {
  if ((wanted_flags_ & kTraceStacks) == 0 || launch_callbacks_.on()) return;
  no_stack_ = SubscribeToLaunches();
}

NoStack Agent::SubscribeToLaunches() {
  // Ranges want the subscription too, and are over soon.
  if (RangesAllowed() && !ranges_.Finished()) return NoStack::kNone;
  PythonLayout layout;
  if (!recorder_.stacks().ready()) {
    // Without the recorder's lock: the thread with the dynamic loader's lock may wait for that one.
    if (const NoStack why = FindPython(&layout); why != NoStack::kNone) return why;
  }
  recorder_.Lock();
  const bool ready = recorder_.CreateStacks(layout);
  if (ready) recorder_.stacks().BeginWindow();
  recorder_.Unlock();
  if (!ready) return NoStack::kNoMemory;
  no_backward_ = recorder_.stacks().FindAutograd();  // takes that lock too
  if (!may_subscribe_) return NoStack::kNotSubscribed;
  return launch_callbacks_.On(cupti_, LaunchCallback) == cupti::kSuccess ? NoStack::kNone
                                                                         : NoStack::kNotSubscribed;
}

// In a window that has them: stacks that are new are named while what they are of still runs.
void Agent::FollowStacks(uint64_t now_ns) {
  if (RangesAllowed() && !ranges_.Finished()) return GiveUpStacks();
  if (other_client_.TornDown()) return launch_callbacks_.Lost();
  launch_callbacks_.Turn(cupti_, now_ns);
  recorder_.Lock();
  recorder_.stacks().TakeNewStacks();
  recorder_.Unlock();
}

// A window ends. The subscription stays for a moment longer.
void Agent::CloseStacks() {
  if (other_client_.TornDown()) return launch_callbacks_.Lost();
  launch_callbacks_.Silence(cupti_, MonotonicNs());
}

// The subscription is wanted by somebody, or the end comes.
void Agent::GiveUpStacks() {
  if (other_client_.TornDown()) return launch_callbacks_.Lost();
  launch_callbacks_.Off(cupti_);
}

void Agent::LearnCost() {
  recorder_.Lock();
  const RecorderCounts counts = recorder_.counts();
  const uint64_t stacks_read = recorder_.stacks().counts().calls;
  recorder_.Unlock();
  window_cost_.Counted(counts.operations,
                       TracingCostNs(counts.launches - counts.graph_nodes, counts.graph_nodes) +
                           stacks_read * kStackOfLaunchNs);
  budget_.SetScale(window_cost_.Scale());
}

// Ends a gap that nothing follows.
void Agent::EndGap() {
  if (!trace_.InGap()) return;
  SendStatus();  // what was counted before it
  trace_.EndGap();
}

// At exit: what ran since the last window, or since the one before if nothing runs any more in this
// one, has no record. But a call of ours that launches nothing has the next number.
void Agent::CountToTheEnd() {
  if (!may_subscribe_) return;
  const uint32_t number = NumberOfOwnCall(cupti_, cuda_);
  if (number == 0) return;
  recorder_.Lock();
  if (!trace_.on()) recorder_.GapEnded();
  recorder_.CountOwnCall(number);
  recorder_.Unlock();
}

// What can only be switched off at the risk of the process is traced on, over the budget.
bool Agent::MayPause() {
  if (!wanted_ || taken_ || trace_.Pausable()) return true;
  ring_.header()->producer.reason.store(static_cast<uint32_t>(AgentReason::kNotPausable),
                                        std::memory_order_relaxed);
  return false;
}

// Records that still come long after tracing was switched off mean that it is not off.
void Agent::StopLateRecords(uint64_t now_ns, uint64_t launches) {
  constexpr uint64_t kFewLaunches = 64;
  if (trace_.on() || taken_ || silence_due_ns_ == 0 || now_ns < silence_due_ns_) {
    if (trace_.on()) silence_due_ns_ = 0;
    launches_when_silent_ = launches;
    return;
  }
  if (launches > launches_when_silent_ + kFewLaunches) {
    trace_.OffAgain();
    later_.SwitchedOn();
    silence_due_ns_ = now_ns + kStragglersNs;
  } else if (now_ns > silence_due_ns_ + kSilentNs) {
    silence_due_ns_ = 0;
  }
}

bool Agent::RangesAllowed() const {
  return may_subscribe_ && !main_thread_ended_ &&
         ring_.header()->control.counters_yielded.load(std::memory_order_acquire) != 0;
}

void Agent::StopTracing(const char* reason) {
  if (!trace_.on()) return;
  window_cost_.Closed(MonotonicNs());
  paused_realtime_ns_ = RealtimeNs();
  later_.Paused(MonotonicNs(), trace_.process_wide() && trace_.Pausable());
  trace_.Off(reason);
  CloseStacks();
  FlushRecords(0);
  recorder_.Lock();
  recorder_.GapBegan();
  recorder_.Unlock();
  silence_due_ns_ = MonotonicNs() + kStragglersNs;
}

}  // namespace utlz::agent
