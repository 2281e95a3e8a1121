#include "collector/sampler/counters/metric_set_samples.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/sampler/counters/peak_rates.h"
#include "proto/frame.h"

namespace utlz {
namespace {

constexpr uint32_t kSamplesPerBatch = 4096;

// The same for the same metrics, whichever sampler takes them, so that what several count for one
// run is one; never 0.
uint32_t IdOf(const SelectedMetrics& metrics, uint64_t interval_ns) {
  std::string text = absl::StrCat(interval_ns);
  for (const SelectedMetric& metric : metrics) {
    absl::StrAppend(&text, "\n", metric.name, " ", metric.resolution);
  }
  const uint64_t hash = XXH3_64bits(text.data(), text.size());
  return static_cast<uint32_t>(hash & 0xffffff) | 1u << 24;
}

std::vector<double> Resolutions(const SelectedMetrics& metrics) {
  std::vector<double> resolutions;
  for (const SelectedMetric& metric : metrics) resolutions.push_back(metric.resolution);
  return resolutions;
}

}  // namespace

MetricSetSamples::MetricSetSamples(const CudaDevice& device, SelectedMetrics metrics,
                                   uint64_t interval_ns)
    : device_(device),
      metrics_(std::move(metrics)),
      interval_ns_(interval_ns),
      id_(IdOf(metrics_, interval_ns)),
      encoder_(id_, device.uuid, interval_ns, Resolutions(metrics_)) {}

void MetricSetSamples::Announce(const PmSampler& sampler, const FrameSink& sink) {
  if (announced_.has_value()) return;
  announced_ = Describe(sampler);
  sink(FRAME_METRIC_SET, *announced_);
}

void MetricSetSamples::Add(uint64_t start_ns, uint64_t end_ns, std::span<const double> values,
                           const FrameSink& sink) {
  encoder_.Add(start_ns, end_ns, values);
  if (encoder_.samples() >= kSamplesPerBatch) sink(FRAME_SAMPLES, encoder_.Take());
}

void MetricSetSamples::EndWindow(uint64_t lost, const FrameSink& sink) {
  encoder_.AddLost(lost);
  if (announced_.has_value() && encoder_.has_news()) sink(FRAME_SAMPLES, encoder_.Take());
}

void MetricSetSamples::SendDescriptions(const FrameSink& sink) const {
  if (announced_.has_value()) sink(FRAME_METRIC_SET, *announced_);
}

MetricSet MetricSetSamples::Describe(const PmSampler& sampler) const {
  MetricSet message;
  message.set_id(id_);
  message.set_device_uuid(device_.uuid);
  message.set_chip(sampler.chip());
  message.set_interval_ns(interval_ns_);
  for (const SelectedMetric& selected : metrics_) {
    MetricSet::Metric* metric = message.add_metric();
    metric->set_name(selected.name);
    metric->set_role(selected.role);
    metric->set_unit(selected.unit);
    metric->set_resolution(selected.resolution);
    metric->set_peak_per_cycle(PeakPerCycle(selected, sampler));
  }
  return message;
}

double MetricSetSamples::PeakPerCycle(const SelectedMetric& metric,
                                      const PmSampler& sampler) const {
  switch (metric.role) {
    case METRIC_SM_CYCLES_ACTIVE:
      return device_.multiprocessors;
    case METRIC_TENSOR_ACTIVE:
    case METRIC_TENSOR_HMMA_ACTIVE:
    case METRIC_TENSOR_IMMA_ACTIVE:
      return sampler.EvaluateConstant(metric.name + ".peak_sustained")
          .value_or(TensorPipesPerMultiprocessor(device_.compute_capability_major) *
                    device_.multiprocessors);
    case METRIC_FMA_INSTRUCTIONS:
    case METRIC_FP64_ACTIVE:
      return sampler.EvaluateConstant(metric.name + ".peak_sustained").value_or(0);
    default:
      return 0;
  }
}

}  // namespace utlz
