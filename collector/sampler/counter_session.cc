#include "collector/sampler/counter_session.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/clocks.h"
#include "collector/sampler/channel/sampler_command.h"
#include "collector/sampler/sharing/sampler_socket.h"
#include "proto/frame.h"

namespace utlz {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kFirstRetryPauseNs = 1'000'000'000;
constexpr uint64_t kLongestRetryPauseNs = 30'000'000'000;
// Asking for a lock costs next to nothing.
constexpr uint64_t kLeaseRetryPauseNs = 500'000'000;

// Samples that are as long as a third of what the program repeats, say, do not see what repeats
// three times as often in it, wherever they begin; samples of another length do. So the sets differ
// in it, by a ratio that keeps both from falling in with one period.
constexpr uint64_t kExtendedIntervalParts = 23;
constexpr uint64_t kIntervalParts = 20;

// The processes that are sampled trace for about as long as a planned window lasts.
constexpr uint64_t kLatestPlannedBeginNs = 5'000'000;
constexpr uint64_t kSettledNs = 100'000'000;
// Later than this after it could have begun none is put off, whoever asks.
constexpr uint64_t kLongestDelayNs = 10'000'000'000;
// One that nobody planned begins this long after it could have.
constexpr uint64_t kUnplannedNs = 2'500'000'000;
// Agents that trace in a window must hear of it as long before.
constexpr uint64_t kNoticeNs = 45'000'000;

// A window of more intervals than this that brings no sample at all was no window.
constexpr uint64_t kIntervalsWithSamples = 16;

// The hardware says that somebody has the counters; whose sampler that may be can be asked.
absl::Status NameHolder(const absl::Status& status, const std::string& uuid) {
  if (!absl::IsUnavailable(status) && !absl::IsFailedPrecondition(status)) return status;
  const std::optional<SamplerPeer> holder = SamplerOfAnotherUser(uuid);
  if (!holder) return status;
  return absl::UnavailableError(
      absl::StrCat("the counters are held by another utlz, of user ", holder->user,
                   holder->pid != 0 ? absl::StrCat(" (sampler process ", holder->pid, ")") : ""));
}

}  // namespace

CounterSession::CounterSession(const CuptiTable& table, const CudaDevice& device,
                               const CounterSessionOptions& options, FrameSink sink,
                               uint64_t now_ns)
    : table_(table),
      device_(device),
      options_(options),
      sink_(std::move(sink)),
      schedule_(options.schedule, now_ns),
      planning_(options.planning),
      planned_ns_(kNever),
      unplanned_ns_(kNever),
      retry_ns_(now_ns),
      retry_pause_ns_(kFirstRetryPauseNs) {
  if (!planning_.planned) schedule_.SetSteady(now_ns, true);
}

CounterSession::~CounterSession() {
  if (sampling()) EndWindow(MonotonicNs());
}

bool CounterSession::works() const {
  return state_ == State::kReady || state_ == State::kSampling ||
         (state_ == State::kYielded && reason_.reason.empty());
}

uint64_t CounterSession::next_step_ns() const {
  switch (state_) {
    case State::kBlocked:
      return retry_ns_;
    case State::kReady:
      if (!planning_.planned) return schedule_.next_start_ns();
      if (cut_) return 0;
      return planned_ns_ != kNever ? planned_ns_ : unplanned_ns_;
    case State::kSampling:
      return window_end_ns_;
    case State::kYielded:
    case State::kDead:
      return kNever;
  }
  return kNever;
}

void CounterSession::Step(uint64_t now_ns, bool may_begin) {
  if (now_ns < next_step_ns()) return;
  if (state_ == State::kBlocked) {
    TryTake(now_ns);
  } else if (state_ == State::kSampling) {
    EndWindow(now_ns);
    if (state_ == State::kReady) GetReady(MonotonicNs());
  } else if (planning_.planned &&
             (cut_ || (planned_ns_ != kNever && now_ns - planned_ns_ > kLatestPlannedBeginNs))) {
    GetReady(now_ns);
  } else if (may_begin) {
    BeginWindow(now_ns);
  }
}

void CounterSession::TryTake(uint64_t now_ns) {
  const uint64_t cpu_before_ns = ProcessCpuNs();
  const absl::Status status = Take();
  schedule_.Spent(ProcessCpuNs() - cpu_before_ns);
  if (!status.ok()) {
    Block(now_ns, status);
    return;
  }
  reason_ = {};
  state_ = State::kReady;
  GetReady(now_ns);
}

absl::Status CounterSession::Take() {
  if (!lease_.has_value()) {
    absl::StatusOr<DeviceLease> lease = DeviceLease::Take(options_.lease_folder, device_.uuid);
    leased_elsewhere_ = absl::IsUnavailable(lease.status());
    if (lease.ok()) {
      lease_ = *std::move(lease);
    } else if (leased_elsewhere_) {
      return lease.status();
    }
    // A lock file that cannot be used is no reason to do without counters: the hardware itself
    // serves one profiler only.
  }
  if (sampler_ == nullptr) {
    absl::StatusOr<std::unique_ptr<PmSampler>> sampler =
        PmSampler::Create(table_, options_.sampler);
    if (!sampler.ok()) return sampler.status();
    sampler_ = *std::move(sampler);
    chip_ = sampler_->chip();
  }
  if (sets_.empty()) {
    if (absl::Status status = SelectSets(); !status.ok()) return status;
  }
  return Configure(SetOfNextWindow());
}

absl::Status CounterSession::SelectSets() {
  const PassCounter passes = CuptiPassCounter(table_, chip_, sampler_->availability());
  absl::StatusOr<SelectedMetrics> base = SelectMetrics(BaseRoles(), passes);
  if (!base.ok()) return base.status();
  absl::StatusOr<SelectedMetrics> extended = SelectMetrics(ExtendedRoles(), passes);
  const size_t base_metrics = base->size();
  sets_.emplace_back(device_, *std::move(base), options_.interval_ns);
  if (extended.ok() && extended->size() > base_metrics) {
    sets_.emplace_back(device_, *std::move(extended),
                       options_.interval_ns / kIntervalParts * kExtendedIntervalParts);
  }
  return absl::OkStatus();
}

void CounterSession::Block(uint64_t now_ns, const absl::Status& status) {
  if (sampler_ != nullptr) sampler_->Disable();
  configured_set_.reset();
  reason_ = ExplainCounterFailure(leased_elsewhere_ ? status : NameHolder(status, device_.uuid));
  if (reason_.permanent) {
    state_ = State::kDead;
    lease_.reset();
    return;
  }
  state_ = State::kBlocked;
  if (leased_elsewhere_) {
    retry_ns_ = now_ns + kLeaseRetryPauseNs;
    return;
  }
  retry_ns_ = now_ns + retry_pause_ns_;
  retry_pause_ns_ = std::min(2 * retry_pause_ns_, kLongestRetryPauseNs);
}

size_t CounterSession::SetOfNextWindow() const {
  return sets_.size() > 1 && turns_.next() == SampledSet::kExtended ? 1 : 0;
}

void CounterSession::BeginWindow(uint64_t now_ns) {
  const uint64_t cpu_before_ns = ProcessCpuNs();
  planned_ns_ = kNever;
  absl::Status status = ConfigureNextSet();
  const uint64_t cpu_configured_ns = ProcessCpuNs();
  schedule_.Spent(cpu_configured_ns - cpu_before_ns);
  if (status.ok()) status = sampler_->Start();
  if (!status.ok()) return Block(now_ns, status);
  window_cpu_ns_ = ProcessCpuNs() - cpu_configured_ns;
  state_ = State::kSampling;
  window_begin_ns_ = MonotonicNs();
  window_end_ns_ = window_begin_ns_ + WindowNs();
  sets_[*configured_set_].StartWindow();
}

absl::Status CounterSession::ConfigureNextSet() {
  const size_t set = SetOfNextWindow();
  if (sampler_->configured() && configured_set_ == set) return absl::OkStatus();
  return Configure(set);
}

// Programs that launch kernels meanwhile may wait for the driver: when that was belongs to the run.
absl::Status CounterSession::Configure(size_t set) {
  configured_set_.reset();
  CounterSetting setting;
  setting.set_device_uuid(device_.uuid);
  setting.set_start_ns(RealtimeNs());
  const absl::Status status =
      sampler_->Configure(sets_[set].metrics(), sets_[set].interval_ns());
  if (!status.ok()) return status;
  setting.set_end_ns(RealtimeNs());
  sink_(FRAME_COUNTER_SETTING, setting);
  configured_set_ = set;
  return absl::OkStatus();
}

uint64_t CounterSession::WindowNs() const {
  return std::min(schedule_.window_ns(), sampler_->longest_window_ns());
}

void CounterSession::RequestWindow(uint64_t now_ns) {
  const uint64_t before_ns = schedule_.next_start_ns();
  schedule_.RequestWindow(now_ns);
  GetReadySooner(now_ns, before_ns);
}

// A window that is about to begin may be under way already for those who trace in it.
void CounterSession::GetReadySooner(uint64_t now_ns, uint64_t before_ns) {
  const bool settled = planned_ns_ < now_ns + kSettledNs;
  if (state_ == State::kReady && !settled && schedule_.next_start_ns() < before_ns) {
    GetReady(now_ns);
  }
}

void CounterSession::SetProgress(uint64_t now_ns, uint64_t progress) {
  turns_.BaseKnown((progress & kProgressBaseKnown) != 0);
  const uint64_t before_ns = schedule_.next_start_ns();
  schedule_.SetSteady(now_ns, (progress & kProgressSteady) != 0);
  GetReadySooner(now_ns, before_ns);
}

void CounterSession::SetDuty(uint64_t now_ns, uint32_t duty_ppm) {
  schedule_.SetDuty(now_ns, duty_ppm);
  if (state_ == State::kReady && planned_ns_ == kNever) GetReady(now_ns);
}

uint64_t CounterSession::WindowAt(uint64_t now_ns, uint64_t begin_ns) {
  if (!planning_.planned || state_ != State::kReady) return kNever;
  const uint64_t latest_ns = std::max(now_ns, schedule_.next_start_ns()) + kLongestDelayNs;
  begin_ns = std::min(begin_ns, latest_ns);
  if (planned_ns_ == kNever) {
    planned_ns_ = begin_ns;
  } else if (planned_ns_ > now_ns + kNoticeNs) {
    planned_ns_ = std::max(planned_ns_, begin_ns);
  }
  return planned_ns_;
}

void CounterSession::SetPlanning(uint64_t now_ns, const WindowPlanning& planning) {
  if (planning == planning_) return;
  planning_ = planning;
  // Those who plan say when the load is steady; for others nothing is kept.
  if (!planning.planned) schedule_.SetSteady(now_ns, true);
  if (state_ == State::kReady && planned_ns_ == kNever) GetReady(now_ns);
}

void CounterSession::GetReady(uint64_t now_ns) {
  planned_ns_ = kNever;
  unplanned_ns_ = kNever;
  cut_ = false;
  if (!planning_.planned) return;
  const uint64_t cpu_before_ns = ProcessCpuNs();
  const absl::Status status = ConfigureNextSet();
  schedule_.Spent(ProcessCpuNs() - cpu_before_ns);
  if (!status.ok()) return Block(now_ns, status);
  const uint64_t start_ns = schedule_.next_start_ns();
  if (start_ns == kNever) return;
  if (planning_.always_wanted) unplanned_ns_ = std::max(now_ns, start_ns) + kUnplannedNs;
  sink_(FRAME_SAMPLER_READY, Ready());
}

SamplerReady CounterSession::Ready() const {
  const uint64_t start_ns = schedule_.next_start_ns();
  SamplerReady ready;
  ready.set_device_uuid(device_.uuid);
  ready.set_time_ns(RealtimeNs() + (start_ns - std::min(start_ns, MonotonicNs())));
  ready.set_window_ns(WindowNs());
  return ready;
}

SamplerWindow CounterSession::PlannedWindow() const {
  SamplerWindow window;
  window.set_device_uuid(device_.uuid);
  window.set_begin_ns(RealtimeNs() + (planned_ns_ - std::min(planned_ns_, MonotonicNs())));
  window.set_window_ns(WindowNs());
  return window;
}

void CounterSession::SendDescriptions(const FrameSink& sink) const {
  for (const MetricSetSamples& set : sets_) set.SendDescriptions(sink);
  if (!planning_.planned || state_ != State::kReady || schedule_.next_start_ns() == kNever) return;
  if (planned_ns_ == kNever) {
    sink(FRAME_SAMPLER_READY, Ready());
  } else {
    sink(FRAME_SAMPLER_WINDOW, PlannedWindow());
  }
}

void CounterSession::EndWindow(uint64_t now_ns) {
  const uint64_t cpu_before_ns = ProcessCpuNs();
  const uint64_t on_ns = std::max(MonotonicNs(), now_ns) - window_begin_ns_;
  MetricSetSamples* set = &sets_[*configured_set_];
  WindowActivity activity(set->metrics());
  state_ = State::kReady;
  absl::StatusOr<WindowResult> window =
      sampler_->Stop([&](uint64_t start_ns, uint64_t end_ns, std::span<const double> values) {
        set->Announce(*sampler_, sink_);
        set->Add(start_ns, end_ns, values, sink_);
        activity.Add(end_ns - start_ns, values);
      });
  set->EndWindow(window.ok() ? window->lost : 0, sink_);
  absl::Status status = window.status();
  if (window.ok()) status = CheckWindow(*window, on_ns, set->interval_ns());
  const bool idle = !CountWindow(activity, on_ns);
  const uint64_t cpu_ns = window_cpu_ns_ + ProcessCpuNs() - cpu_before_ns;
  schedule_.Finished(MonotonicNs(), on_ns, cpu_ns, idle);
  if (!status.ok()) Block(now_ns, status);
}

// What it brought; a long one without samples is an error.
absl::Status CounterSession::CheckWindow(const WindowResult& window, uint64_t on_ns,
                                         uint64_t interval_ns) {
  statistics_.samples += window.samples;
  statistics_.lost += window.lost;
  if (window.overflow) schedule_.Overflowed();
  if (window.samples != 0) {
    retry_pause_ns_ = kFirstRetryPauseNs;
  } else if (!window.overflow && on_ns > kIntervalsWithSamples * interval_ns) {
    return absl::InternalError("a window of PM sampling brought no samples");
  }
  return absl::OkStatus();
}

// Whether the GPU did anything in it.
bool CounterSession::CountWindow(const WindowActivity& activity, uint64_t on_ns) {
  ++statistics_.windows;
  statistics_.sampling_ns += on_ns;
  if (!activity.Computes(device_.multiprocessors)) return activity.Copies();
  turns_.BusyWindow();
  statistics_.busy_cycles += activity.elapsed_cycles();
  statistics_.busy_ns += activity.sampled_ns();
  return true;
}

void CounterSession::CutWindow(uint64_t now_ns) {
  if (!sampling()) return;
  EndWindow(now_ns);
  cut_ = true;
}

void CounterSession::Yield(uint64_t now_ns) {
  if (sampling()) EndWindow(now_ns);
  if (state_ == State::kDead) return;
  if (sampler_ != nullptr) sampler_->Disable();
  configured_set_.reset();
  state_ = State::kYielded;
}

void CounterSession::Resume(uint64_t now_ns) {
  if (state_ != State::kYielded) return;
  state_ = State::kBlocked;
  retry_ns_ = now_ns;
}

}  // namespace utlz
