#include "collector/sampler/device_sampler.h"

#include <algorithm>
#include <utility>

#include "collector/clocks.h"
#include "collector/sampler/counters/device_peaks.h"

namespace utlz {
namespace {

constexpr uint64_t kTotalsPauseNs = 200'000'000;
constexpr int kReadingsPerBatch = 5;
constexpr uint64_t kStatusPauseNs = 2'000'000'000;
// The shortest time between two requests for windows that are passed on.
constexpr uint64_t kRequestPauseNs = 100'000'000;

uint64_t Since(uint64_t now, uint64_t then) { return now - std::min(now, then); }

// Adds what another collector's sampler did between `first` and `last`.
void AddSince(const SamplerStatus& first, const SamplerStatus& last, SamplerStatus* sum) {
  sum->set_samples(sum->samples() + Since(last.samples(), first.samples()));
  sum->set_samples_lost(sum->samples_lost() + Since(last.samples_lost(), first.samples_lost()));
  sum->set_windows(sum->windows() + Since(last.windows(), first.windows()));
  sum->set_sampling_ns(sum->sampling_ns() + Since(last.sampling_ns(), first.sampling_ns()));
  if (last.has_set_counters_cost_ns()) {
    sum->set_set_counters_cost_ns(sum->set_counters_cost_ns() +
                                  Since(last.set_counters_cost_ns(), first.set_counters_cost_ns()));
  }
  sum->set_sampler_cpu_ns(sum->sampler_cpu_ns() +
                          Since(last.sampler_cpu_ns(), first.sampler_cpu_ns()));
}

}  // namespace

DeviceSampler::DeviceSampler(const CudaDevice& device, const SamplerLibraries& libraries,
                             const CounterSessionOptions& options, FrameSink sink,
                             FrameStream::Sink relay, uint64_t now_ns)
    : device_(device),
      libraries_(libraries),
      sink_(std::move(sink)),
      relay_(std::move(relay)),
      planning_(options.planning),
      next_totals_ns_(now_ns),
      next_status_ns_(now_ns) {
  if (libraries.cupti != nullptr) {
    counters_ = std::make_unique<CounterSession>(*libraries.cupti, device_, options, sink_, now_ns);
  }
  if (libraries.nvml != nullptr) totals_ = NvmlTotals::Create(*libraries.nvml, device_.uuid);
  sink_(FRAME_DEVICE_PEAKS, Peaks());
}

void DeviceSampler::Step(uint64_t now_ns, bool may_begin_window, bool beside) {
  StepTotals(now_ns);
  StepCounters(now_ns, may_begin_window, beside);
  StepStatus(now_ns);
  if (!clock_sent_ && counters_ != nullptr && counters_->statistics().busy_ns > 0) {
    clock_sent_ = true;
    sink_(FRAME_DEVICE_PEAKS, Peaks());
  }
}

void DeviceSampler::StepCounters(uint64_t now_ns, bool may_begin_window, bool beside) {
  if (subscription_ != nullptr) ReadSubscription(now_ns);
  if (subscription_ != nullptr || counters_ == nullptr) return;
  const bool due = now_ns >= counters_->next_step_ns();
  counters_->Step(now_ns, may_begin_window, beside);
  // Tries to subscribe as often as the session tries to take the lease.
  if (due && counters_->leased_elsewhere() && !yielded_.has_value()) {
    Subscribe(planning_.planned ? SubscriberKind::kPlanned : SubscriberKind::kAlways);
  }
}

void DeviceSampler::StepStatus(uint64_t now_ns) {
  const SourceReason reason = Reason();
  const bool works = Works();
  if (now_ns < next_status_ns_ && last_reason_ == reason && last_works_ == works) return;
  next_status_ns_ = now_ns + kStatusPauseNs;
  last_reason_ = reason;
  last_works_ = works;
  sink_(FRAME_SAMPLER_STATUS, Status());
}

uint64_t DeviceSampler::next_step_ns() const {
  uint64_t next_ns = next_status_ns_;
  if (totals_ != nullptr) next_ns = std::min(next_ns, next_totals_ns_);
  if (counters_ != nullptr && subscription_ == nullptr) {
    next_ns = std::min(next_ns, counters_->next_step_ns());
  }
  return next_ns;
}

void DeviceSampler::StepTotals(uint64_t now_ns) {
  if (totals_ == nullptr || now_ns < next_totals_ns_) return;
  next_totals_ns_ = now_ns + kTotalsPauseNs;
  const uint64_t cpu_before_ns = ProcessCpuNs();
  totals_->Read();
  if (totals_->readings() >= kReadingsPerBatch) sink_(FRAME_DEVICE_TOTALS, totals_->Take());
  if (counters_ == nullptr) return;
  counters_->Spent(ProcessCpuNs() - cpu_before_ns);
  counters_->SetPowerLimited(now_ns, (totals_->clock_limits() & nvml::kClocksLimitedByPower) != 0);
}

bool DeviceSampler::Subscribe(SubscriberKind kind) {
  absl::StatusOr<std::unique_ptr<CounterSubscription>> subscription =
      CounterSubscription::Begin(device_.uuid, kind);
  if (!subscription.ok()) return false;
  subscription_ = *std::move(subscription);
  progress_.reset();
  return true;
}

void DeviceSampler::ReadSubscription(uint64_t now_ns) {
  const absl::Status status = subscription_->Read([this](uint16_t type, std::string_view payload) {
    if (type == FRAME_SAMPLER_STATUS) {
      TakeStatus(payload);
    } else if (type == FRAME_METRIC_SET || type == FRAME_SAMPLES || type == FRAME_DEVICE_PEAKS ||
               type == FRAME_COUNTER_SETTING || type == FRAME_SAMPLER_READY ||
               type == FRAME_SAMPLER_WINDOW) {
      relay_(type, payload);
    }
  });
  if (!status.ok()) EndSubscription(now_ns);
}

// The other sampler is gone, so the counters may be free. One that never sent a status turned us
// away: we subscribe again when we try to take the lease.
void DeviceSampler::EndSubscription(uint64_t now_ns) {
  subscription_.reset();
  progress_.reset();
  if (!shared_last_.has_value()) return;
  AddSince(*shared_first_, *shared_last_, &shared_before_);
  shared_first_.reset();
  shared_last_.reset();
  if (counters_ != nullptr) counters_->RetryAt(now_ns);
}

void DeviceSampler::TakeStatus(std::string_view payload) {
  SamplerStatus status;
  if (!status.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
  if (!shared_first_.has_value()) shared_first_ = status;
  shared_last_ = std::move(status);
}

SourceReason DeviceSampler::Reason() const {
  if (yielded_.has_value()) return *yielded_;
  if (shared_last_.has_value()) return {shared_last_->reason(), shared_last_->remedy()};
  return counters_ != nullptr ? counters_->reason() : libraries_.no_counters;
}

bool DeviceSampler::Works() const {
  if (lent_since_ns_ != 0) return false;
  if (shared_last_.has_value()) return shared_last_->counter_source() == SOURCE_SAMPLED;
  return counters_ != nullptr && counters_->works();
}

SamplerStatus DeviceSampler::Status() const {
  SamplerStatus status;
  status.set_device_uuid(device_.uuid);
  status.set_time_ns(RealtimeNs());
  const bool gpm = totals_ != nullptr && totals_->has_gpm();
  status.set_counter_source(Works() ? SOURCE_SAMPLED : gpm ? SOURCE_GPM : SOURCE_TIME_ONLY);
  const SourceReason reason = Reason();
  status.set_reason(reason.reason);
  status.set_remedy(reason.remedy);
  status.set_sampler_cpu_ns(ProcessCpuNs());
  if (counters_ != nullptr) {
    const CounterStatistics& statistics = counters_->statistics();
    status.set_samples(statistics.samples);
    status.set_samples_lost(statistics.lost);
    status.set_windows(statistics.windows);
    status.set_sampling_ns(statistics.sampling_ns);
    status.set_set_counters_cost_ns(static_cast<uint64_t>(counters_->set_counters_cost_ns()));
  }
  AddShared(&status);
  return status;
}

void DeviceSampler::AddShared(SamplerStatus* status) const {
  const uint64_t lent_ns =
      lent_ns_ + (lent_since_ns_ == 0 ? 0 : Since(MonotonicNs(), lent_since_ns_));
  status->set_lent_ns(lent_ns);
  if (lent_ns > 0) status->set_lent_to(lent_to_);
  AddSince(SamplerStatus(), shared_before_, status);
  if (!shared_last_.has_value()) return;
  AddSince(*shared_first_, *shared_last_, status);
  status->set_collectors(shared_last_->collectors());
  if (shared_last_->lent_ns() <= shared_first_->lent_ns()) return;
  status->set_lent_ns(lent_ns + shared_last_->lent_ns() - shared_first_->lent_ns());
  status->set_lent_to(shared_last_->lent_to());
}

DevicePeaks DeviceSampler::Peaks() const {
  DevicePeaks peaks = DescribePeaks(device_, counters_ != nullptr ? counters_->chip() : "");
  if (counters_ != nullptr && counters_->statistics().busy_ns > 0) {
    const CounterStatistics& statistics = counters_->statistics();
    peaks.set_sm_clock_hz(statistics.busy_cycles / statistics.busy_ns * 1e9);
  }
  return peaks;
}

uint64_t DeviceSampler::WindowAt(uint64_t now_ns, uint64_t begin_ns) {
  if (subscription_ != nullptr) {
    subscription_->Send(kSamplerWindowAt, RealtimeNs() + (begin_ns - std::min(begin_ns, now_ns)));
  } else if (counters_ != nullptr) {
    return counters_->WindowAt(now_ns, begin_ns);
  }
  return UINT64_MAX;
}

void DeviceSampler::RequestWindow(uint64_t now_ns) {
  if (subscription_ == nullptr) {
    if (counters_ != nullptr) counters_->RequestWindow(now_ns);
  } else if (now_ns >= next_request_ns_) {
    next_request_ns_ = now_ns + kRequestPauseNs;
    subscription_->Send(kSamplerStartWindow);
  }
}

void DeviceSampler::Yield(uint64_t now_ns, const SourceReason& why, const std::string& lent_to) {
  EndLoan(now_ns);
  if (!lent_to.empty()) {
    lent_since_ns_ = now_ns;
    lent_to_ = lent_to;
  }
  yielded_ = why;
  if (counters_ != nullptr) counters_->Yield(now_ns);
  // A sampler without counters of its own asks the sampler that has them.
  if (subscription_ == nullptr && counters_ == nullptr) Subscribe(SubscriberKind::kYieldOnly);
  if (subscription_ != nullptr) subscription_->Send(kSamplerYield);
}

void DeviceSampler::EndLoan(uint64_t now_ns) {
  if (lent_since_ns_ != 0) lent_ns_ += Since(now_ns, lent_since_ns_);
  lent_since_ns_ = 0;
}

void DeviceSampler::Resume(uint64_t now_ns) {
  EndLoan(now_ns);
  yielded_.reset();
  if (subscription_ != nullptr) subscription_->Send(kSamplerResume);
  if (counters_ == nullptr) {
    subscription_.reset();
  } else {
    counters_->Resume(now_ns);
  }
}

void DeviceSampler::SetDuty(uint64_t now_ns, uint32_t duty_ppm) {
  if (counters_ != nullptr) counters_->SetDuty(now_ns, duty_ppm);
}

void DeviceSampler::SetCpuBudget(uint64_t now_ns, uint32_t ppm) {
  if (counters_ != nullptr) counters_->SetCpuBudget(now_ns, ppm);
}

void DeviceSampler::SetPlanning(uint64_t now_ns, const WindowPlanning& planning) {
  planning_ = planning;
  if (counters_ != nullptr) counters_->SetPlanning(now_ns, planning);
}

void DeviceSampler::SetProgress(uint64_t now_ns, uint64_t progress) {
  if (progress_ == progress) return;
  progress_ = progress;
  if (subscription_ != nullptr) {
    subscription_->Send(kSamplerProgress, progress);
  } else if (counters_ != nullptr) {
    counters_->SetProgress(now_ns, progress);
  }
}

void DeviceSampler::SetIdleCpu(uint64_t now_ns, uint32_t ppm) {
  if (counters_ != nullptr) counters_->SetIdleCpu(now_ns, ppm);
}

void DeviceSampler::SpentByCollector(uint64_t now_ns, uint64_t cpu_ns) {
  if (subscription_ != nullptr) {
    subscription_->Send(kSamplerCollectorSpent, cpu_ns);
  } else if (counters_ != nullptr) {
    counters_->SpentByCollectors(now_ns, cpu_ns);
  }
}

void DeviceSampler::SendDescriptions(const FrameSink& sink) {
  sink(FRAME_DEVICE_PEAKS, Peaks());
  if (counters_ != nullptr) counters_->SendDescriptions(sink);
  sink(FRAME_SAMPLER_STATUS, Status());
}

void DeviceSampler::Conclude(uint64_t now_ns, bool goes_on) {
  if (counters_ != nullptr) goes_on ? counters_->CutWindow(now_ns) : counters_->Yield(now_ns);
  if (subscription_ != nullptr) ReadSubscription(now_ns);
  if (totals_ != nullptr) {
    totals_->ReadLast();
    sink_(FRAME_DEVICE_TOTALS, totals_->Take());
  }
  if (counters_ != nullptr && counters_->statistics().busy_ns > 0) {
    sink_(FRAME_DEVICE_PEAKS, Peaks());
  }
  if (last_reason_.has_value()) sink_(FRAME_SAMPLER_STATUS, Status());
  // Others' collectors have NVML's word from their own samplers.
  totals_.reset();
  if (!goes_on) subscription_.reset();
}

}  // namespace utlz
