// One GPU's counters as this process has them: the lease among utlz's samplers, CUPTI's sampler,
// and the sets of metrics that it samples in turn. Not thread-safe.
#ifndef UTLZ_COLLECTOR_SAMPLER_DEVICE_COUNTERS_H_
#define UTLZ_COLLECTOR_SAMPLER_DEVICE_COUNTERS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/sampler/counters/metric_set_samples.h"
#include "collector/sampler/counters/pm_sampler.h"
#include "collector/sampler/counters/source_reason.h"
#include "collector/sampler/counters/window_activity.h"
#include "collector/sampler/driver/cuda_devices.h"
#include "collector/sampler/driver/cupti_table.h"
#include "collector/sampler/set_turns.h"
#include "collector/sampler/sharing/device_lease.h"

namespace utlz {

struct DeviceCountersOptions {
  PmSamplerOptions sampler;
  uint64_t interval_ns = kUsualIntervalNs;  // of the base set's samples
  std::string lease_folder;
};

class DeviceCounters {
 public:
  // A window that ended.
  struct Window {
    uint64_t interval_ns = 0;  // of the set that it sampled
    WindowActivity activity;
    absl::StatusOr<WindowResult> result;
  };

  // Table and device must outlive it. `sink` gets frames of sets, settings and samples.
  DeviceCounters(const CuptiTable& table, const CudaDevice& device,
                 const DeviceCountersOptions& options, FrameSink sink);

  // Takes what is not ours yet but the hardware's counters, which Configure takes. Unavailable:
  // another utlz has them (leased_elsewhere), or another profiler.
  absl::Status Take();
  // Sets the counters to `set`, or to the base set where the GPU has no other, unless they are set
  // to it. 200 ms of CPU where the set changes.
  absl::Status ConfigureOnce(SampledSet set);
  bool IsConfigured(SampledSet set) const;
  // How often they were set.
  uint64_t settings() const { return settings_; }
  // Begins a window of the set that is configured.
  absl::Status Start();
  // Ends it, in a millisecond or two.
  void Stop();
  // Sends the samples of the window that was stopped; tens of milliseconds of CPU.
  Window Read();
  // Gives the counters up, and keeps the lease.
  void Disable();
  // Nobody here will want the counters any more.
  void GiveLeaseUp() { lease_.reset(); }

  // Why the counters are not to be had.
  SourceReason Explain(const absl::Status& failure) const;
  bool leased_elsewhere() const { return leased_elsewhere_; }
  int listener() const { return lease_.has_value() ? lease_->listener() : -1; }
  // Of the set that was configured last.
  uint64_t longest_window_ns() const { return longest_window_ns_; }
  const std::string& chip() const { return chip_; }
  // For a subscriber that joins: the sets so far.
  void SendDescriptions(const FrameSink& sink) const;

 private:
  absl::Status TakeLease();
  absl::Status SelectSets();
  absl::Status Configure(size_t place);
  void AddSet(SampledSet set, SelectedMetrics metrics, uint64_t interval_ns);
  // The base set's where the chip lacks the set.
  size_t PlaceOf(SampledSet set) const;

  const CuptiTable& table_;
  const CudaDevice& device_;
  const DeviceCountersOptions options_;
  const FrameSink sink_;
  std::string chip_;
  std::optional<DeviceLease> lease_;
  bool leased_elsewhere_ = false;
  std::unique_ptr<PmSampler> sampler_;
  std::vector<MetricSetSamples> sets_;
  std::map<SampledSet, size_t> places_;  // in sets_, of those that this chip has
  std::optional<size_t> configured_;     // of sets_
  absl::Status stopped_;                 // what came of the last Stop()
  uint64_t longest_window_ns_ = 0;
  uint64_t settings_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_DEVICE_COUNTERS_H_
