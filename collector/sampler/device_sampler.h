// Everything that the sampler sends about one GPU: its peaks, its totals, its samples, and which
// counter source they come from. The samples are its own, or those of another collector's sampler
// if that one has the counters.
#ifndef UTLZ_COLLECTOR_SAMPLER_DEVICE_SAMPLER_H_
#define UTLZ_COLLECTOR_SAMPLER_DEVICE_SAMPLER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "collector/sampler/counter_session.h"
#include "collector/sampler/counters/nvml_totals.h"
#include "collector/sampler/sharing/counter_subscription.h"

namespace utlz {

// What every GPU's sampler shares; null where it could not be loaded.
struct SamplerLibraries {
  const CuptiTable* cupti = nullptr;
  const NvmlTable* nvml = nullptr;
  SourceReason no_counters;  // why `cupti` is null
};

// Not thread-safe. Device and libraries must outlive it.
class DeviceSampler {
 public:
  // `sink` gets what this process makes, `relay` what another sampler made, and what its collector
  // alone is to have.
  DeviceSampler(const CudaDevice& device, const SamplerLibraries& libraries,
                const CounterSessionOptions& options, FrameSink sink, FrameStream::Sink relay,
                uint64_t now_ns);

  const CudaDevice& device() const { return device_; }

  // Does what is due; `beside`: another GPU is sampled meanwhile. Times are monotonic nanoseconds.
  void Step(uint64_t now_ns, bool may_begin_window, bool beside = false);
  // Stops a window that is due to end; Step() then reads what it counted.
  void StopWhenDue(uint64_t now_ns) {
    if (counters_ != nullptr) counters_->StopWhenDue(now_ns);
  }
  // Stops a window whether it is due to end or not.
  void StopNow(uint64_t now_ns) {
    if (counters_ != nullptr) counters_->StopNow(now_ns);
  }
  uint64_t next_step_ns() const;
  bool sampling() const { return counters_ != nullptr && counters_->sampling(); }
  bool stopped() const { return counters_ != nullptr && counters_->stopped(); }
  bool samples_beside_others() const {
    return counters_ != nullptr && counters_->samples_beside_others();
  }
  // When the last window began; 0: there was none.
  uint64_t window_begin_ns() const {
    return counters_ == nullptr ? 0 : counters_->window_begin_ns();
  }
  // Readable when Step() has something to do, or when another sampler asks for a share; -1: none.
  int subscription_fd() const { return subscription_ == nullptr ? -1 : subscription_->fd(); }
  int listener() const { return counters_ == nullptr ? -1 : counters_->listener(); }

  // Counters are taken here, or will be: a profiler that wants them is to be noticed.
  bool takes_counters() const {
    return counters_ != nullptr && !counters_->hopeless() && subscription_ == nullptr;
  }

  // When a window that was asked for is to begin, UINT64_MAX: that is not known here.
  uint64_t WindowAt(uint64_t now_ns, uint64_t begin_ns);
  SamplerWindow PlannedWindow() const { return counters_->PlannedWindow(); }
  void RequestWindow(uint64_t now_ns);
  // Gives the counters up, and takes them back. Meanwhile the status says `why`. `lent_to`: the
  // other profiler that has them, else empty.
  void Yield(uint64_t now_ns, const SourceReason& why, const std::string& lent_to = "");
  void Resume(uint64_t now_ns);
  void SetDuty(uint64_t now_ns, uint32_t duty_ppm);
  void SetCpuBudget(uint64_t now_ns, uint32_t ppm);
  void SetPlanning(uint64_t now_ns, const WindowPlanning& planning);
  // What collectors know of the load: SamplingProgress.
  void SetProgress(uint64_t now_ns, uint64_t progress);
  void SetIdleCpu(uint64_t now_ns, uint32_t ppm);
  // How many GPUs this process serves.
  void SetGpus(size_t gpus) {
    if (counters_ != nullptr) counters_->SetGpus(gpus);
  }
  // CPU time that a collector took for this GPU's samples, since it last said so.
  void SpentByCollector(uint64_t now_ns, uint64_t cpu_ns);

  // For a subscriber that joins: all that was sent so far and still holds.
  void SendDescriptions(const FrameSink& sink);

  // Ends a window, and sends the own collector its last frames. `goes_on`: subscribers still
  // listen; else the counters are given up.
  void Conclude(uint64_t now_ns, bool goes_on);

 private:
  void StepTotals(uint64_t now_ns);
  void StepCounters(uint64_t now_ns, bool may_begin_window, bool beside);
  void StepStatus(uint64_t now_ns);
  bool Subscribe(SubscriberKind kind);
  void ReadSubscription(uint64_t now_ns);
  void EndSubscription(uint64_t now_ns);
  void TakeStatus(std::string_view payload);
  void EndLoan(uint64_t now_ns);
  SourceReason Reason() const;
  bool Works() const;
  SamplerStatus Status() const;
  void AddShared(SamplerStatus* status) const;
  DevicePeaks Peaks() const;

  const CudaDevice& device_;
  const SamplerLibraries& libraries_;
  const FrameSink sink_;
  const FrameStream::Sink relay_;
  WindowPlanning planning_;
  std::unique_ptr<CounterSession> counters_;
  std::unique_ptr<CounterSubscription> subscription_;
  std::optional<uint64_t> progress_;  // as it was said last
  // What the other sampler said first and last, and what came of those before it.
  std::optional<SamplerStatus> shared_first_;
  std::optional<SamplerStatus> shared_last_;
  SamplerStatus shared_before_;
  uint64_t next_request_ns_ = 0;
  std::optional<SourceReason> yielded_;  // why
  uint64_t lent_since_ns_ = 0;           // 0: not lent
  uint64_t lent_ns_ = 0;                 // before that
  std::string lent_to_;
  std::unique_ptr<NvmlTotals> totals_;
  uint64_t next_totals_ns_;
  uint64_t next_status_ns_;
  std::optional<SourceReason> last_reason_;
  bool last_works_ = false;
  bool clock_sent_ = false;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_DEVICE_SAMPLER_H_
