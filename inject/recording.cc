#include "inject/recording.h"

#include <time.h>

#include <algorithm>

#include "inject/base/clock.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kMillisecondNs = 1000000;
constexpr uint64_t kReportNs = 1000 * kMillisecondNs;
// While it is to be decided whether windows follow the beginning.
constexpr uint64_t kBeginningFlushNs = 100 * kMillisecondNs;
// A program that synchronizes at all does so within a second.
constexpr int kMostRangeRounds = 200;
constexpr uint64_t kRangeRoundNs = 5 * kMillisecondNs;

}  // namespace

Recording::Recording(Turns& turns)
    : turns_(turns),
      intake_(ring_, cupti_),
      reports_(cupti_, cuda_, intake_, ring_),
      client_(cupti_, cuda_, intake_, reports_, turns),
      pacer_({cupti_, cuda_, ring_, intake_, reports_, client_, request_}) {}

bool Recording::CreateRecorder() {
  has_recorder_ = intake_.Create((welcome_.trace_flags & kTraceLaunchCalls) != 0);
  if (!has_recorder_) Disable(AgentReason::kNoMemory, 0);
  return has_recorder_;
}

bool Recording::Restart(const TraceBudget& budget) {
  if (!has_recorder_ && !CreateRecorder()) return false;
  intake_.Restart((welcome_.trace_flags & kTraceLaunchCalls) != 0);
  request_.wanted = true;
  client_.Restart();
  pacer_.Restart(budget);
  last_request_ = next_flush_ns_ = next_report_ns_ = 0;
  reports_.Restart();
  return true;
}

bool Recording::StartCupti(const BroughtCupti& brought) {
  const CuptiClient::Failure failure =
      client_.Start(brought, serves_attachments_, welcome_.device_pool_mib);
  if (failure.reason == AgentReason::kNone) return true;
  Disable(failure.reason, failure.detail);
  return false;
}

bool Recording::StartTracing() {
  reports_.SendDevices();  // where CUDA is up already, before any launch
  intake_.Activate();
  request_ = {welcome_.state == static_cast<uint32_t>(AgentState::kTracing), welcome_.trace_flags,
              welcome_.overhead_budget_ppm};
  if (const cupti::Result result = pacer_.Start(CalibrationDue()); result != cupti::kSuccess) {
    Disable(result == cupti::kErrorMultipleSubscribers ? AgentReason::kCuptiTaken
                                                       : AgentReason::kCuptiError,
            static_cast<uint32_t>(result));
    return false;
  }
  pacer_.WatchCaptures();
  ring_.header()->producer.state.store(welcome_.state, std::memory_order_relaxed);
  return true;
}

void Recording::ForgetCupti() {
  request_.wanted = false;
  pacer_.WatchNewWork();
  client_.Forget();
}

void Recording::AbandonTracing() {
  pacer_.Abandon();
  Disable(AgentReason::kNoMemory, 0);
}

void Recording::Disable(AgentReason reason, uint32_t detail) {
  pacer_.GiveUpStacks();  // while it is active: afterwards nobody else would
  intake_.Deactivate();
  if (!serves_attachments_) intake_.GiveBuffers(false);
  RingProducer& producer = ring_.header()->producer;
  producer.reason_detail.store(detail, std::memory_order_relaxed);
  producer.reason.store(static_cast<uint32_t>(reason), std::memory_order_relaxed);
  producer.state.store(static_cast<uint32_t>(AgentState::kOff), std::memory_order_release);
}

void Recording::Turn(uint64_t now_ns) {
  ring_.header()->producer.heartbeat_ns.store(now_ns, std::memory_order_relaxed);
  // Before any launches, wherever that can be had: they are placed by it.
  reports_.SendDevices();
  FollowRequests(now_ns);
  FollowOtherClient(now_ns);
  client_.FollowClock();
  pacer_.Follow(now_ns, CalibrationDue());
  pacer_.FollowNewContexts();
  pacer_.FollowStacks(now_ns, CalibrationDue());
  ranges_.Turn(cupti_, &intake_.recorder(), pacer_.on() && RangesAllowed(), now_ns);
  if ((request_.wanted || pacer_.ExpectsLateRecords()) && !client_.taken() &&
      now_ns >= next_flush_ns_) {
    const uint64_t period_ns = uint64_t{welcome_.flush_period_ms} * kMillisecondNs;
    next_flush_ns_ =
        now_ns + (pacer_.Begins() ? std::min(kBeginningFlushNs, period_ns) : period_ns);
    intake_.Flush(0);
  }
  if (now_ns >= next_report_ns_) {
    client_.WatchOthers();
    pacer_.WatchCaptures();
    next_report_ns_ = now_ns + kReportNs;
    reports_.SendRegular(pacer_.Status());
  }
}

void Recording::FollowRequests(uint64_t now_ns) {
  RingControl& control = ring_.header()->control;
  const uint64_t request = control.request.load(std::memory_order_acquire);
  if (request == last_request_) return;
  last_request_ = request;
  request_.wanted = control.requested_state.load(std::memory_order_relaxed) ==
                    static_cast<uint32_t>(AgentState::kTracing);
  request_.flags = control.requested_flags.load(std::memory_order_relaxed);
  const uint32_t budget_ppm = control.overhead_budget_ppm.load(std::memory_order_relaxed);
  if (budget_ppm != request_.budget_ppm) {
    request_.budget_ppm = budget_ppm;
    pacer_.StartBudget(now_ns);
  }
  if (!request_.wanted || request_.flags != pacer_.flags()) pacer_.Stop(nullptr);
  if (!request_.wanted) pacer_.EndGap();
  if (request_.wanted) pacer_.Follow(now_ns, CalibrationDue());
  // A tool that is there for one attachment waits for the end of it, not for this.
  if (serves_attachments_ && !request_.wanted) return;
  RingProducer& producer = ring_.header()->producer;
  producer.state.store(
      static_cast<uint32_t>(request_.wanted ? AgentState::kTracing : AgentState::kInactive),
      std::memory_order_release);
  producer.acknowledged_request.store(request, std::memory_order_release);
}

// Steps aside while another client traces, and goes on once it has been done for a while.
void Recording::FollowOtherClient(uint64_t now_ns) {
  RingProducer& producer = ring_.header()->producer;
  if (client_.NoticeLostBuffers()) {
    pacer_.Lose();
    producer.reason.store(static_cast<uint32_t>(AgentReason::kBuffersTaken),
                          std::memory_order_relaxed);
    client_.WatchTaker();
  }
  if (client_.ReclaimBuffers(now_ns)) {
    producer.reason.store(static_cast<uint32_t>(AgentReason::kNone), std::memory_order_relaxed);
  }
}

void Recording::FollowRequestWhileOff() {
  const RingControl& control = ring_.header()->control;
  request_.wanted = control.request.load(std::memory_order_acquire) == 0 ||
                    control.requested_state.load(std::memory_order_relaxed) ==
                        static_cast<uint32_t>(AgentState::kTracing);
}

bool Recording::RangesAllowed() const {
  return client_.may_subscribe() && !ranges_refused_ &&
         ring_.header()->control.counters_yielded.load(std::memory_order_acquire) != 0;
}

void Recording::EndRanges() {
  for (int round = 0; round < kMostRangeRounds && ranges_.EndSoon(); ++round) {
    const timespec pause{0, static_cast<long>(kRangeRoundNs)};
    nanosleep(&pause, nullptr);
  }
  ranges_.Abandon();
}

void Recording::EndTracing() {
  EndRanges();
  request_.wanted = false;
  pacer_.WatchNewWork();
  if (!client_.taken()) pacer_.Drain();
  pacer_.GiveUpStacks();
  pacer_.stacks().ReadCompiledCode();
  pacer_.EndGap();
  pacer_.SendStatus();
}

void Recording::End(const char* how) {
  reports_.SendEnd(how);
  intake_.Stop();
}

// CUPTI comes into a process that runs when its CUDA is there: loaded earlier it might not be the
// copy that the program's framework brings.
bool Recording::CudaIsReady() {
  int count = 0;
  if (cuda_.device_get_count == nullptr && !LoadCuda(&cuda_)) return false;
  return cuda_.device_get_count(&count) == cuda::kSuccess;
}

void Recording::OnDriverCall(const cupti::CallbackData& call) {
  if (active()) ranges_.OnDriverCall(call);
}

void Recording::OnLaunch(const cupti::CallbackData& call) {
  if (active()) pacer_.stacks().OnLaunch(call);
}

void Recording::OnNode(uint32_t event, const cupti::ResourceData& resource) {
  if (!active() || resource.descriptor == nullptr) return;
  pacer_.stacks().OnNode(event, *static_cast<const cupti::GraphData*>(resource.descriptor));
}

void Recording::OnCapture(CaptureEvent event) {
  constexpr uint64_t kPatienceNs = 20 * kMillisecondNs;
  if (!active() || !pacer_.watches_captures()) return;
  const auto take = [&] {
    if (active()) pacer_.OnCapture(event, CalibrationDue());
  };
  if (!turns_.TakeWithin(kPatienceNs, take) && !turns_.ended()) {
    pacer_.stacks().OnMissedCapture(event);
  }
}

void Recording::OnSubscription() {
  if (!active()) return;
  ranges_.Abandon();
  pacer_.GiveUpStacks();
}

void Recording::OnRegistration() {
  if (client_.taken() || !client_.Registered() || !intake_.gives_buffers()) return;
  if (!active()) {
    // Inactive: what CUPTI may have kept since the last attachment.
    cupti_.activity_flush_all(cupti::kFlushForced);
    return;
  }
  client_.FollowClock();  // the other may have given CUPTI its own already
  pacer_.StopWatchingNewWork();
  intake_.Flush(cupti::kFlushForced);
}

void Recording::HandOverAtExit(uint64_t delay_ns) {
  const uint64_t begun_ns = MonotonicNs();
  reports_.SendDevices();
  const bool ours = request_.wanted && client_.Registered();
  if (ours) intake_.Flush(cupti::kFlushForced);
  pacer_.stacks().ReadCompiledCode();
  pacer_.EndGap();
  if (ours && !client_.taken() && request_.budget_ppm != 0) pacer_.CountToTheEnd();
  reports_.CountEnd(delay_ns + MonotonicNs() - begun_ns);
  pacer_.SendStatus();
  reports_.SendEnd("exit");
}

void Recording::StopInChild() {
  intake_.Deactivate();
  intake_.GiveBuffers(false);
}

}  // namespace utlz::agent
