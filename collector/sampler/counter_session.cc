#include "collector/sampler/counter_session.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "collector/clocks.h"
#include "collector/sampler/channel/sampler_command.h"

namespace utlz {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
// No window is put off for longer than this after it could have begun, whoever asks.
constexpr uint64_t kLongestDelayNs = 10'000'000'000;
// A window of more intervals than this must bring samples; one without any has failed.
constexpr uint64_t kIntervalsWithSamples = 16;
constexpr uint64_t kLeastLeadNs = 100'000'000;
constexpr uint64_t kMostLeadNs = 1'000'000'000;
constexpr uint64_t kLeadMarginNs = 20'000'000;

}  // namespace

CounterSession::CounterSession(const CuptiTable& table, const CudaDevice& device,
                               const CounterSessionOptions& options, FrameSink sink,
                               uint64_t now_ns)
    : device_(device),
      sink_(std::move(sink)),
      counters_(table, device, options, sink_),
      schedule_(options.schedule, now_ns),
      planning_(options.planning),
      retry_(now_ns),
      power_(options.power_loss_ppm, now_ns) {
  if (!planning_.planned) schedule_.SetSteady(now_ns, true);
}

CounterSession::~CounterSession() { EndWindow(MonotonicNs()); }

bool CounterSession::works() const {
  return state_ == State::kReady || sampling() || stopped() ||
         (state_ == State::kYielded && reason_.reason.empty());
}

uint64_t CounterSession::next_step_ns() const {
  switch (state_) {
    case State::kBlocked:
      return retry_.next_ns();
    case State::kReady:
      if (!planning_.planned) return schedule_.next_start_ns();
      if (!plan_.due_ns().has_value()) return kNever;
      return *plan_.due_ns() - (rests_ ? std::min(*plan_.due_ns(), LeadNs()) : 0);
    case State::kSampling:
      return window_.end_ns;
    case State::kStopped:
      return 0;
    case State::kYielded:
    case State::kDead:
      return kNever;
  }
  return kNever;
}

void CounterSession::StopWhenDue(uint64_t now_ns) {
  if (now_ns >= window_.end_ns) StopNow(now_ns);
}

void CounterSession::StopNow(uint64_t now_ns) {
  if (!sampling()) return;
  const uint64_t cpu_before_ns = ProcessCpuNs();
  window_.on_ns = std::max(MonotonicNs(), now_ns) - window_.begin_ns;
  counters_.Stop();
  window_.cpu_ns += ProcessCpuNs() - cpu_before_ns;
  state_ = State::kStopped;
}

void CounterSession::Step(uint64_t now_ns, bool may_begin, bool beside) {
  if (now_ns < next_step_ns()) return;
  if (state_ == State::kBlocked) {
    if (!beside) TryTake(now_ns);
  } else if (sampling() || stopped()) {
    EndWindow(now_ns);
    if (state_ == State::kReady) GetReady(std::max(now_ns, MonotonicNs()));
  } else if (planning_.planned && plan_.Missed(now_ns)) {
    GetReady(now_ns);
  } else if (may_begin && !(beside && IsToSetCounters())) {
    rests_ ? PrepareCounters(now_ns) : BeginWindow(now_ns, beside);
  }
}

void CounterSession::TryTake(uint64_t now_ns) {
  const uint64_t cpu_before_ns = ProcessCpuNs();
  rests_ = false;
  absl::Status status = counters_.Take();
  if (status.ok()) status = SetCounters(now_ns);
  schedule_.SetUp(ProcessCpuNs() - cpu_before_ns);
  if (!status.ok()) {
    Block(now_ns, status);
    return;
  }
  reason_ = {};
  state_ = State::kReady;
  GetReady(now_ns);
}

void CounterSession::Block(uint64_t now_ns, const absl::Status& status) {
  counters_.Disable();
  power_.GivenUp(now_ns);
  reason_ = counters_.Explain(status);
  if (reason_.permanent) {
    state_ = State::kDead;
    counters_.GiveLeaseUp();
    return;
  }
  state_ = State::kBlocked;
  if (counters_.leased_elsewhere()) {
    retry_.AfterLease(now_ns);
  } else {
    retry_.AfterFailure(now_ns);
  }
}

absl::Status CounterSession::SetCounters(uint64_t now_ns) {
  const uint64_t settings = counters_.settings();
  const uint64_t begun_ns = MonotonicNs();
  const absl::Status status = counters_.ConfigureOnce(turns_.next());
  if (counters_.settings() == settings) return status;
  setting_took_ns_ = MonotonicNs() - begun_ns;
  power_.Set(now_ns);
  return status;
}

// Setting the counters takes longer than a window lasts, and another GPU's window could not be
// stopped meanwhile.
bool CounterSession::IsToSetCounters() const {
  return rests_ || !counters_.IsConfigured(turns_.next());
}

bool CounterSession::IsToRest(uint64_t now_ns) const {
  if (planning_.always_wanted) return false;
  if (rests_) return power_.IsLimited(now_ns);
  return power_.IsToGiveUp(now_ns, schedule_.next_start_ns(), announced_ns_);
}

void CounterSession::Rest(uint64_t now_ns) {
  if (rests_) return;
  const uint64_t cpu_before_ns = ProcessCpuNs();
  counters_.Disable();
  schedule_.Spent(ProcessCpuNs() - cpu_before_ns);
  power_.GivenUp(now_ns);
  rests_ = true;
}

void CounterSession::PrepareCounters(uint64_t now_ns) {
  const uint64_t cpu_before_ns = ProcessCpuNs();
  rests_ = false;
  const absl::Status status = SetCounters(now_ns);
  schedule_.Spent(ProcessCpuNs() - cpu_before_ns);
  if (!status.ok()) Block(now_ns, status);
}

void CounterSession::SetPowerLimited(uint64_t now_ns, bool limited) {
  limited ? power_.Limited(now_ns) : power_.Advance(now_ns);
  if (state_ != State::kReady || !planning_.planned || plan_.planned_ns()) return;
  if (IsToRest(now_ns) != rests_) GetReady(now_ns);
}

uint64_t CounterSession::ReadyNs(uint64_t now_ns) const {
  const uint64_t start_ns = schedule_.next_start_ns();
  if (!rests_ || start_ns == kNever) return start_ns;
  return std::max({start_ns, power_.AffordsAtNs(now_ns), now_ns + LeadNs()});
}

uint64_t CounterSession::LeadNs() const {
  return gpus_ * std::clamp(setting_took_ns_ / 2 * 3 + kLeadMarginNs, kLeastLeadNs, kMostLeadNs);
}

void CounterSession::BeginWindow(uint64_t now_ns, bool beside) {
  const uint64_t cpu_before_ns = ProcessCpuNs();
  plan_.Begin();
  announced_ns_ = 0;
  absl::Status status = SetCounters(now_ns);
  const uint64_t cpu_configured_ns = ProcessCpuNs();
  schedule_.Spent(cpu_configured_ns - cpu_before_ns);
  if (status.ok()) status = counters_.Start();
  if (!status.ok() && !beside) return Block(now_ns, status);
  if (!status.ok()) {
    SampleAlone(now_ns);
    return GetReady(now_ns);
  }
  state_ = State::kSampling;
  window_ = {
      .begin_ns = MonotonicNs(), .cpu_ns = ProcessCpuNs() - cpu_configured_ns, .beside = beside};
  window_.end_ns = window_.begin_ns + WindowNs();
}

void CounterSession::SampleAlone(uint64_t now_ns) {
  samples_alone_ = true;
  counters_.Disable();
  power_.GivenUp(now_ns);
}

uint64_t CounterSession::WindowNs() const {
  return std::min(schedule_.window_ns(), counters_.longest_window_ns());
}

void CounterSession::RequestWindow(uint64_t now_ns) {
  const uint64_t before_ns = ReadyNs(now_ns);
  schedule_.RequestWindow(now_ns);
  GetReadySooner(now_ns, before_ns);
}

// Not once the planned window is settled: agents may have begun to trace in it already.
void CounterSession::GetReadySooner(uint64_t now_ns, uint64_t before_ns) {
  if (state_ != State::kReady || plan_.Settled(now_ns)) return;
  if (ReadyNs(now_ns) < before_ns) GetReady(now_ns);
}

void CounterSession::SetProgress(uint64_t now_ns, uint64_t progress) {
  turns_.BaseKnown((progress & kProgressBaseKnown) != 0);
  const uint64_t before_ns = ReadyNs(now_ns);
  schedule_.SetHurried(now_ns, (progress & kProgressPerhapsOnce) != 0);
  schedule_.SetSteady(now_ns, (progress & kProgressSteady) != 0);
  GetReadySooner(now_ns, before_ns);
}

void CounterSession::SetDuty(uint64_t now_ns, uint32_t duty_ppm) {
  schedule_.SetDuty(now_ns, duty_ppm);
  if (state_ == State::kReady && !plan_.planned_ns()) GetReady(now_ns);
}

uint64_t CounterSession::WindowAt(uint64_t now_ns, uint64_t begin_ns) {
  if (!planning_.planned || state_ != State::kReady) return kNever;
  const uint64_t ready_ns = ReadyNs(now_ns);
  const uint64_t latest_ns = std::max(now_ns, ready_ns) + kLongestDelayNs;
  // Counters that rest cannot be set in no time.
  const uint64_t asked_ns = rests_ ? std::max(begin_ns, ready_ns) : begin_ns;
  return plan_.PlanAt(now_ns, std::min(asked_ns, latest_ns));
}

void CounterSession::SetPlanning(uint64_t now_ns, const WindowPlanning& planning) {
  if (planning == planning_) return;
  planning_ = planning;
  // Those who plan say when the load is steady; for others nothing is kept.
  if (!planning.planned) schedule_.SetSteady(now_ns, true);
  if (state_ == State::kReady && !plan_.planned_ns()) GetReady(now_ns);
}

void CounterSession::GetReady(uint64_t now_ns) {
  plan_.Clear();
  if (!planning_.planned) {
    rests_ = false;
    return;
  }
  power_.Advance(now_ns);
  if (IsToRest(now_ns)) {
    Rest(now_ns);
  } else {
    PrepareCounters(now_ns);
    if (state_ != State::kReady) return;
  }
  const uint64_t start_ns = ReadyNs(now_ns);
  if (start_ns == kNever) return;
  announced_ns_ = std::max(now_ns, start_ns);
  if (planning_.always_wanted) plan_.BeginAlone(announced_ns_);
  sink_(FRAME_SAMPLER_READY, Ready(now_ns));
}

SamplerReady CounterSession::Ready(uint64_t now_ns) const {
  const uint64_t start_ns = ReadyNs(now_ns);
  SamplerReady ready;
  ready.set_device_uuid(device_.uuid);
  ready.set_time_ns(RealtimeNs() + (start_ns - std::min(start_ns, MonotonicNs())));
  ready.set_window_ns(WindowNs());
  if (rests_) ready.set_lead_ns(LeadNs());
  return ready;
}

SamplerWindow CounterSession::PlannedWindow() const {
  SamplerWindow window;
  window.set_device_uuid(device_.uuid);
  const uint64_t begin_ns = plan_.planned_ns().value_or(kNever);
  window.set_begin_ns(RealtimeNs() + (begin_ns - std::min(begin_ns, MonotonicNs())));
  window.set_window_ns(WindowNs());
  return window;
}

void CounterSession::SendDescriptions(const FrameSink& sink) const {
  counters_.SendDescriptions(sink);
  if (!planning_.planned || state_ != State::kReady || schedule_.next_start_ns() == kNever) return;
  if (!plan_.planned_ns()) {
    sink(FRAME_SAMPLER_READY, Ready(MonotonicNs()));
  } else {
    sink(FRAME_SAMPLER_WINDOW, PlannedWindow());
  }
}

void CounterSession::ReadWindow(uint64_t now_ns) {
  const uint64_t cpu_before_ns = ProcessCpuNs();
  state_ = State::kReady;
  const DeviceCounters::Window window = counters_.Read();
  absl::Status status = window.result.status();
  if (status.ok()) status = CheckWindow(*window.result, window.interval_ns);
  const bool idle = !CountWindow(window.activity);
  window_.cpu_ns += ProcessCpuNs() - cpu_before_ns;
  schedule_.Finished(MonotonicNs(), window_.on_ns, window_.cpu_ns, idle);
  if (!status.ok()) window_.beside ? SampleAlone(now_ns) : Block(now_ns, status);
}

void CounterSession::EndWindow(uint64_t now_ns) {
  StopNow(now_ns);
  if (stopped()) ReadWindow(now_ns);
}

// What it brought; a long one without samples is an error.
absl::Status CounterSession::CheckWindow(const WindowResult& window, uint64_t interval_ns) {
  statistics_.samples += window.samples;
  statistics_.lost += window.lost;
  if (window.overflow) schedule_.Overflowed();
  if (window.samples != 0) {
    retry_.Works();
  } else if (!window.overflow && window_.on_ns > kIntervalsWithSamples * interval_ns) {
    return absl::InternalError("a window of PM sampling brought no samples");
  }
  return absl::OkStatus();
}

// Whether the GPU did anything in it.
bool CounterSession::CountWindow(const WindowActivity& activity) {
  ++statistics_.windows;
  statistics_.sampling_ns += window_.on_ns;
  if (!activity.Computes(device_.multiprocessors)) return activity.Copies();
  if (!schedule_.early()) turns_.BusyWindow();
  statistics_.busy_cycles += activity.elapsed_cycles();
  statistics_.busy_ns += activity.sampled_ns();
  return true;
}

void CounterSession::CutWindow(uint64_t now_ns) {
  if (!sampling() && !stopped()) return;
  EndWindow(now_ns);
  plan_.Cut();
}

void CounterSession::Yield(uint64_t now_ns) {
  EndWindow(now_ns);
  if (state_ == State::kDead) return;
  counters_.Disable();
  power_.GivenUp(now_ns);
  state_ = State::kYielded;
}

void CounterSession::Resume(uint64_t now_ns) {
  if (state_ != State::kYielded) return;
  state_ = State::kBlocked;
  retry_.At(now_ns);
}

}  // namespace utlz
