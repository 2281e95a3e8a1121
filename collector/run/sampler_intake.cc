#include "collector/run/sampler_intake.h"

#include <algorithm>
#include <utility>

#include "collector/counters/counter_limits.h"
#include "collector/decode/parse.h"
#include "proto/frame.h"

namespace utlz {
namespace {

constexpr size_t kMaxMetricSets = 16;

// The device that a message speaks of; null where there are too many.
template <typename Message>
DeviceState* DeviceOf(const Message& message, DeviceTable* devices) {
  const auto index = devices->Find(message.device_uuid());
  return index.has_value() ? &(*devices)[*index] : nullptr;
}

// All else is computed by them: a peak that is no number makes every share none.
bool ArePeaks(const DevicePeaks& peaks) {
  constexpr double kMostFlopsPerCycle = 1e9;
  constexpr double kMostPerSecond = 1e18;
  const auto is_one = [](double value, double most) { return value >= 0 && value <= most; };
  return is_one(peaks.sm_clock_hz(), kMostPerSecond) &&
         is_one(peaks.sm_clock_maximum_hz(), kMostPerSecond) &&
         is_one(peaks.dram_bytes_per_second(), kMostPerSecond) &&
         std::all_of(peaks.pipe().begin(), peaks.pipe().end(), [&](const auto& pipe) {
           return is_one(pipe.flops_per_cycle(), kMostFlopsPerCycle);
         });
}

}  // namespace

bool SamplerIntake::Consume(uint16_t type, std::string_view payload, DeviceTable* devices) {
  switch (type) {
    case FRAME_METRIC_SET:
      return ConsumeMetricSet(payload, devices);
    case FRAME_SAMPLES:
      return ConsumeSamples(payload, devices);
    case FRAME_DEVICE_TOTALS:
      return ConsumeTotals(payload, devices);
    case FRAME_SAMPLER_STATUS:
      return ConsumeStatus(payload, devices);
    case FRAME_DEVICE_PEAKS:
      return ConsumePeaks(payload, devices);
    case FRAME_COUNTER_SETTING:
      return ConsumeSetting(payload, devices);
    default:
      return true;
  }
}

bool SamplerIntake::ConsumeMetricSet(std::string_view payload, DeviceTable* devices) {
  MetricSet message;
  if (!Parse(payload, &message, kMaxKeptBytes) || message.metric_size() > kMaxMetrics) return false;
  DeviceState* device = DeviceOf(message, devices);
  if (device == nullptr) return false;
  const uint32_t multiprocessors =
      device->peaks.has_value() ? device->peaks->multiprocessors() : device->info.multiprocessors();
  if (device->metric_sets.size() >= kMaxMetricSets ||
      !device->attribution.AddMetricSet(message, multiprocessors,
                                        device->peaks.value_or(DevicePeaks()))) {
    return false;
  }
  if (device->sample_interval_ns == 0) device->sample_interval_ns = message.interval_ns();
  device->metric_sets.emplace(message.id(), std::move(message));
  return true;
}

bool SamplerIntake::ConsumeSamples(std::string_view payload, DeviceTable* devices) {
  SampleBatch message;
  if (!Parse(payload, &message, kMaxFramePayloadBytes)) return false;
  DeviceState* device = DeviceOf(message, devices);
  if (device == nullptr) return false;
  const auto set = device->metric_sets.find(message.metric_set());
  const CounterSet* counters = device->attribution.CountersOf(message.metric_set());
  if (set == device->metric_sets.end() || counters == nullptr) return false;
  if (!DecodeSamples(message, set->second, &samples_)) return false;
  const DevicePeaks peaks = device->peaks.value_or(DevicePeaks());
  device->samples.AddLost(message.lost());
  if (samples_.size() > 0) {
    device->counter_settings.AddSamples(message.metric_set(), samples_.start_ns.front(),
                                        samples_.end_ns.back());
  }
  for (size_t i = 0; i < samples_.size(); ++i) {
    if (!counters->Convert({samples_.row(i), samples_.metrics}, &row_)) {
      device->samples.AddRefused();
      continue;
    }
    if (!CanBeCounted(*counters, peaks, samples_.start_ns[i], samples_.end_ns[i], row_)) {
      device->samples.AddImplausible();
      continue;
    }
    device->OnSample(*counters, message.metric_set(), samples_.start_ns[i], samples_.end_ns[i],
                     row_);
  }
  return true;
}

bool SamplerIntake::ConsumeTotals(std::string_view payload, DeviceTable* devices) {
  DeviceTotalsBatch message;
  if (!Parse(payload, &message)) return false;
  DeviceState* device = DeviceOf(message, devices);
  if (device == nullptr || !device->totals.Add(message)) return false;
  if (message.has_compute_processes()) device->compute_processes = message.compute_processes();
  return true;
}

bool SamplerIntake::ConsumeStatus(std::string_view payload, DeviceTable* devices) {
  SamplerStatus message;
  if (!Parse(payload, &message, kMaxKeptBytes)) return false;
  DeviceState* device = DeviceOf(message, devices);
  if (device == nullptr) return false;
  device->status = std::move(message);
  return true;
}

bool SamplerIntake::ConsumePeaks(std::string_view payload, DeviceTable* devices) {
  DevicePeaks message;
  if (!Parse(payload, &message, kMaxKeptBytes) || !ArePeaks(message)) return false;
  DeviceState* device = DeviceOf(message, devices);
  if (device == nullptr) return false;
  device->peaks = std::move(message);
  return true;
}

bool SamplerIntake::ConsumeSetting(std::string_view payload, DeviceTable* devices) {
  CounterSetting message;
  if (!Parse(payload, &message)) return false;
  DeviceState* device = DeviceOf(message, devices);
  if (device == nullptr) return false;
  device->counter_settings.Add(message);
  return true;
}

}  // namespace utlz
