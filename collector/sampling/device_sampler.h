// Everything that the sampler says about one GPU: its peaks, its totals, its samples, and on which
// rung of the ladder the numbers stand.
#ifndef UTLZ_COLLECTOR_SAMPLING_DEVICE_SAMPLER_H_
#define UTLZ_COLLECTOR_SAMPLING_DEVICE_SAMPLER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "collector/sampling/counter_session.h"
#include "collector/sampling/nvml_totals.h"

namespace utlz {

// What every GPU's sampler shares; null where it could not be loaded.
struct SamplerLibraries {
  const CuptiTable* cupti = nullptr;
  const NvmlTable* nvml = nullptr;
  RungReason no_counters;  // why `cupti` is null
};

// Not thread-safe. Device and libraries must outlive it.
class DeviceSampler {
 public:
  DeviceSampler(const CudaDevice& device, const SamplerLibraries& libraries,
                const CounterSessionOptions& options, CounterSession::FrameSink sink,
                uint64_t now_ns);

  const CudaDevice& device() const { return device_; }

  // Does what is due. Times are monotonic nanoseconds.
  void Step(uint64_t now_ns, bool may_begin_window);
  uint64_t next_step_ns() const;
  bool sampling() const { return counters_ != nullptr && counters_->sampling(); }
  // Null where counters are not to be had at all.
  CounterSession* counters() { return counters_.get(); }

  // Ends a window, and says what is still to be said.
  void Finish(uint64_t now_ns);

 private:
  void StepTotals(uint64_t now_ns);
  void SendStatus();
  void SendPeaks();

  const CudaDevice& device_;
  const SamplerLibraries& libraries_;
  const CounterSession::FrameSink sink_;
  std::unique_ptr<CounterSession> counters_;
  std::unique_ptr<NvmlTotals> totals_;
  uint64_t next_totals_ns_;
  uint64_t next_status_ns_;
  std::optional<RungReason> last_reason_;
  bool last_works_ = false;
  bool clock_sent_ = false;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLING_DEVICE_SAMPLER_H_
