#include "inject/ranges/range_session.h"

#include "inject/base/clock.h"
#include "inject/driver/one_agent.h"
#include "proto/profile_fields.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kMillisecondNs = 1000000;
constexpr uint64_t kFindContextNs = 3000 * kMillisecondNs;  // no idle moment by then: none comes
constexpr uint64_t kWindowNs = 500 * kMillisecondNs;
constexpr uint64_t kAbandonNs = 5000 * kMillisecondNs;
// For threads to leave their driver calls: our thread may wait longer than others.
constexpr uint64_t kPatienceNs = 50 * kMillisecondNs;
constexpr uint64_t kShortPatienceNs = 1 * kMillisecondNs;

}  // namespace

void RangeSession::Turn(const CuptiApi& cupti, Recorder* recorder, bool allowed, uint64_t now_ns) {
  switch (phase_.load(std::memory_order_acquire)) {
    case Phase::kNone:
      if (!allowed || !cupti.has_ranges) return;
      cupti_ = &cupti;
      recorder_ = recorder;
      return Begin(now_ns);
    case Phase::kFindContext:
      if (now_ns > began_ns_ + kFindContextNs) Disable(kPatienceNs);
      return;
    case Phase::kSetUp:
      return allowed ? SetUp() : Disable(kPatienceNs);
    case Phase::kRunning:
      // No idle moment is likely to come: give up, and leave the open range, which harms nobody.
      if (now_ns > deadline_ns_.load() + kAbandonNs) End(kPatienceNs);
      return;
    case Phase::kStopped:
      return ReadOut(kPatienceNs);
    case Phase::kFinished:
      return;
  }
}

bool RangeSession::EndSoon() {
  switch (phase_.load(std::memory_order_acquire)) {
    case Phase::kNone:
    case Phase::kFinished:
      return false;
    case Phase::kFindContext:
    case Phase::kSetUp:
      Disable(kPatienceNs);
      return false;
    case Phase::kRunning:
      deadline_ns_.store(0);
      return true;
    case Phase::kStopped:
      ReadOut(kPatienceNs);
      return false;
  }
  return false;
}

void RangeSession::Abandon() {
  if (UnderWay()) End(kShortPatienceNs);
}

void RangeSession::EndAtExit() {
  Phase phase = phase_.load(std::memory_order_acquire);
  if (phase == Phase::kRunning && idle_.Idle() && !in_callback_.exchange(true) &&
      phase_.compare_exchange_strong(phase, Phase::kStopped)) {
    if (range_open_) CloseRange();
    counters_.Stop();
    phase = Phase::kStopped;
  }
  if (phase == Phase::kStopped) return ReadOut(kShortPatienceNs);
  Abandon();
}

void RangeSession::Begin(uint64_t now_ns) {
  began_ns_ = now_ns;
  recorder_->Lock();
  idle_.Reset(recorder_->contexts().streams() == 1);
  recorder_->Unlock();
  phase_.store(Phase::kFindContext, std::memory_order_release);
  if (cupti_->subscribe(&subscriber_, DriverCallCallback, nullptr) != cupti::kSuccess) {
    subscriber_ = nullptr;
    return Disable(kPatienceNs);
  }
  exits_.Begin();
  SwitchCallbacks(true);
}

// The chip is asked of device 0: the processes of one machine see GPUs of one kind, or the
// configuration is refused when the counters start.
bool RangeSession::StartCounters() {
  const bool loaded = counters_.Load(cupti_);
  WatchExitForRanges();
  const bool configured = loaded && counters_.Configure(0);
  WatchExitForRanges();
  const bool started = configured && counters_.Start(context_.load());
  WatchExitForRanges();
  return started;
}

void RangeSession::SetUp() {
  const uint64_t before_ns = MonotonicNs();
  const bool started = StartCounters();
  const uint64_t now_ns = MonotonicNs();
  setup_ns_ = now_ns - before_ns;
  if (!started) return Disable(kPatienceNs);
  deadline_ns_.store(now_ns + kWindowNs);
  phase_.store(Phase::kRunning, std::memory_order_release);
}

void RangeSession::OnDriverCall(const cupti::CallbackData& call) {
  const bool leaves = call.site == cupti::kCallbackExit;
  if (!leaves) exits_.Entered(call.correlation_data);
  FollowDriverCall(call, leaves);
  if (leaves) exits_.Left(call.correlation_data, [this](bool on) { SwitchCallbacks(on); });
}

void RangeSession::SwitchCallbacks(bool on) {
  cupti_->enable_domain(on ? 1 : 0, subscriber_, cupti::kDomainDriverApi);
}

void RangeSession::FollowDriverCall(const cupti::CallbackData& call, bool leaves) {
  const Phase phase = phase_.load(std::memory_order_acquire);
  if (phase == Phase::kNone || phase >= Phase::kStopped) return;
  const cupti::Context context = context_.load(std::memory_order_relaxed);
  if (context != nullptr && call.context != context) return;
  if (phase == Phase::kFindContext) WatchMainThread();
  if (!idle_.OnDriverCall(call, leaves)) return;
  // One thread at a time, and never waiting for another.
  if (in_callback_.exchange(true, std::memory_order_acquire)) return;
  OnIdle(call);
  in_callback_.store(false, std::memory_order_release);
}

void RangeSession::OnIdle(const cupti::CallbackData& call) {
  // The agent's thread may give up meanwhile: what is over does not begin again.
  Phase phase = phase_.load(std::memory_order_acquire);
  if (phase == Phase::kFindContext) {
    // A process that can end while counters start would be killed by that (0020 in decisions).
    if (!MainThreadIsWatched()) return;
    context_.store(call.context);
    context_id_.store(call.context_uid);
    phase_.compare_exchange_strong(phase, Phase::kSetUp, std::memory_order_release);
    return;
  }
  if (phase != Phase::kRunning) return;
  if (range_open_) CloseRange();
  if (ranges_ == RangeCounters::kMaxRanges || MonotonicNs() > deadline_ns_.load()) {
    counters_.Stop();
    phase_.compare_exchange_strong(phase, Phase::kStopped, std::memory_order_release);
    return;
  }
  idle_.TakeLaunches();
  range_[ranges_].start_ns = RealtimeNs();
  range_open_ = counters_.Push(ranges_);
}

void RangeSession::CloseRange() {
  range_open_ = false;
  Range& range = range_[ranges_];
  if (!counters_.Pop()) {
    ++discarded_;
    return;
  }
  range.end_ns = RealtimeNs();
  range.launches = idle_.TakeLaunches();
  ++ranges_;
}

void RangeSession::ReadOut(uint64_t patience_ns) {
  uint32_t decoded = 0;
  if (counters_.Decode()) decoded = counters_.Ranges();
  Send(decoded);
  Disable(patience_ns);
}

void RangeSession::Disable(uint64_t patience_ns) {
  counters_.Release();
  End(patience_ns);
}

void RangeSession::Send(uint32_t decoded) {
  namespace field = wire::RangeBatch;
  // Ranges are matched by their order; a count that differs means that some were lost in between.
  if (decoded != ranges_) {
    discarded_ += ranges_;
    ranges_ = 0;
  }
  recorder_->Lock();
  ByteBuffer* message = recorder_->Scratch();
  PbWriter out(message);
  for (uint32_t i = 0; i < counters_.metrics(); ++i)
    out.String(field::kMetric, counters_.metric(i));
  for (uint32_t i = 0; i < ranges_; ++i) {
    double values[RangeCounters::kMaxMetrics];
    if (!counters_.Evaluate(i, values)) {
      ++discarded_;
      continue;
    }
    uint8_t bytes[64 + sizeof values];
    ByteBuffer range_message(bytes, sizeof bytes);
    PbWriter range(&range_message);
    range.Fixed64(field::Range::kStartNs, range_[i].start_ns);
    range.Fixed64(field::Range::kEndNs, range_[i].end_ns);
    range.Uint(field::Range::kContext, context_id_.load());
    range.Bytes(field::Range::kValue, values,
                counters_.metrics() * static_cast<uint32_t>(sizeof(double)));
    range.Uint(field::Range::kLaunches, range_[i].launches);
    out.Buffer(field::kRanges, range_message);
  }
  out.Uint(field::kDiscarded, discarded_);
  out.Uint(field::kSetupNs, setup_ns_);
  recorder_->Send(wire::kFrameRanges, *message);
  recorder_->Unlock();
  sent_ = true;
}

void RangeSession::End(uint64_t patience_ns) {
  phase_.store(Phase::kFinished, std::memory_order_release);
  // The collector waits for word before it takes the counters back, also where there is none.
  if (!sent_) Send(0);
  if (subscriber_ == nullptr) return;
  exits_.End(patience_ns, [this](bool on) { SwitchCallbacks(on); });
  cupti_->unsubscribe(subscriber_);
  subscriber_ = nullptr;
}

}  // namespace utlz::agent
