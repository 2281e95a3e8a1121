// One of the sets of metrics that windows sample in turn: what is sent of it before its first
// samples, and the samples until they are sent. Not thread-safe.
#ifndef UTLZ_COLLECTOR_SAMPLER_COUNTERS_METRIC_SET_SAMPLES_H_
#define UTLZ_COLLECTOR_SAMPLER_COUNTERS_METRIC_SET_SAMPLES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "collector/sampler/counters/metric_selection.h"
#include "collector/sampler/counters/pm_sampler.h"
#include "collector/sampler/counters/sample_batch_encoder.h"
#include "collector/sampler/driver/cuda_devices.h"
#include "google/protobuf/message_lite.h"
#include "proto/profile.pb.h"

namespace utlz {

using FrameSink = std::function<void(uint16_t type, const google::protobuf::MessageLite& message)>;

class MetricSetSamples {
 public:
  // `device` must outlive it.
  MetricSetSamples(const CudaDevice& device, SelectedMetrics metrics, uint64_t interval_ns);

  const SelectedMetrics& metrics() const { return metrics_; }
  uint64_t interval_ns() const { return interval_ns_; }

  // Samples of a window that begins share nothing with those before it.
  void StartWindow() { encoder_.StartWindow(); }
  // Tells what it is, once: before the first sample. `sampler` is configured for it.
  void Announce(const PmSampler& sampler, const FrameSink& sink);
  // Full batches go to `sink`.
  void Add(uint64_t start_ns, uint64_t end_ns, std::span<const double> values,
           const FrameSink& sink);
  // What is left of a window that has ended.
  void EndWindow(uint64_t lost, const FrameSink& sink);
  // For a subscriber that joins: the set, if it has been sent.
  void SendDescriptions(const FrameSink& sink) const;

 private:
  MetricSet Describe(const PmSampler& sampler) const;
  double PeakPerCycle(const SelectedMetric& metric, const PmSampler& sampler) const;

  const CudaDevice& device_;
  const SelectedMetrics metrics_;
  const uint64_t interval_ns_;
  const uint32_t id_;
  SampleBatchEncoder encoder_;
  std::optional<MetricSet> announced_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_COUNTERS_METRIC_SET_SAMPLES_H_
