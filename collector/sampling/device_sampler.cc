#include "collector/sampling/device_sampler.h"

#include <algorithm>
#include <utility>

#include "collector/sampling/clocks.h"
#include "collector/sampling/device_peaks.h"

namespace utlz {
namespace {

constexpr uint64_t kTotalsPauseNs = 200'000'000;
constexpr int kReadingsPerBatch = 5;
constexpr uint64_t kStatusPauseNs = 2'000'000'000;

}  // namespace

DeviceSampler::DeviceSampler(const CudaDevice& device, const SamplerLibraries& libraries,
                             const CounterSessionOptions& options, CounterSession::FrameSink sink,
                             uint64_t now_ns)
    : device_(device),
      libraries_(libraries),
      sink_(std::move(sink)),
      next_totals_ns_(now_ns),
      next_status_ns_(now_ns) {
  if (libraries.cupti != nullptr) {
    counters_ = std::make_unique<CounterSession>(*libraries.cupti, device_, options, sink_, now_ns);
  }
  if (libraries.nvml != nullptr) totals_ = NvmlTotals::Create(*libraries.nvml, device_.uuid);
  SendPeaks();
}

void DeviceSampler::Step(uint64_t now_ns, bool may_begin_window) {
  StepTotals(now_ns);
  if (counters_ != nullptr) counters_->Step(now_ns, may_begin_window);
  const RungReason& reason = counters_ != nullptr ? counters_->reason() : libraries_.no_counters;
  const bool works = counters_ != nullptr && counters_->works();
  if (now_ns >= next_status_ns_ || last_reason_ != reason || last_works_ != works) {
    next_status_ns_ = now_ns + kStatusPauseNs;
    last_reason_ = reason;
    last_works_ = works;
    SendStatus();
  }
  if (!clock_sent_ && counters_ != nullptr && counters_->statistics().busy_ns > 0) {
    clock_sent_ = true;
    SendPeaks();
  }
}

uint64_t DeviceSampler::next_step_ns() const {
  uint64_t next_ns = next_status_ns_;
  if (totals_ != nullptr) next_ns = std::min(next_ns, next_totals_ns_);
  if (counters_ != nullptr) next_ns = std::min(next_ns, counters_->next_step_ns());
  return next_ns;
}

void DeviceSampler::StepTotals(uint64_t now_ns) {
  if (totals_ == nullptr || now_ns < next_totals_ns_) return;
  next_totals_ns_ = now_ns + kTotalsPauseNs;
  totals_->Read();
  if (totals_->readings() >= kReadingsPerBatch) sink_(FRAME_DEVICE_TOTALS, totals_->Take());
}

void DeviceSampler::SendStatus() {
  SamplerStatus status;
  status.set_device_uuid(device_.uuid);
  status.set_time_ns(RealtimeNs());
  const bool gpm = totals_ != nullptr && totals_->has_gpm();
  status.set_rung(last_works_ ? SOURCE_SAMPLED : gpm ? SOURCE_GPM : SOURCE_TIME_ONLY);
  status.set_reason(last_reason_->reason);
  status.set_remedy(last_reason_->remedy);
  status.set_sampler_cpu_ns(ProcessCpuNs());
  if (counters_ != nullptr) {
    const CounterStatistics& statistics = counters_->statistics();
    status.set_samples(statistics.samples);
    status.set_samples_lost(statistics.lost);
    status.set_windows(statistics.windows);
    status.set_sampling_ns(statistics.sampling_ns);
  }
  sink_(FRAME_SAMPLER_STATUS, status);
}

void DeviceSampler::SendPeaks() {
  DevicePeaks peaks = DescribePeaks(device_, counters_ != nullptr ? counters_->chip() : "");
  if (counters_ != nullptr && counters_->statistics().busy_ns > 0) {
    const CounterStatistics& statistics = counters_->statistics();
    peaks.set_sm_clock_hz(statistics.busy_cycles / statistics.busy_ns * 1e9);
  }
  sink_(FRAME_DEVICE_PEAKS, peaks);
}

void DeviceSampler::Finish(uint64_t now_ns) {
  if (counters_ != nullptr) counters_->Yield(now_ns);
  if (totals_ != nullptr) {
    totals_->Read();
    sink_(FRAME_DEVICE_TOTALS, totals_->Take());
  }
  if (counters_ != nullptr && counters_->statistics().busy_ns > 0) SendPeaks();
  if (last_reason_.has_value()) SendStatus();
}

}  // namespace utlz
