// ProfileTracer's counters: PM samples and NVML's device totals.
#include <cmath>

#include "collector/decode/parse.h"
#include "collector/gpu_uuid.h"
#include "proto/frame.h"
#include "tools/export/profile_tracer.h"

namespace utlz {
namespace {

struct TotalsColumn {
  const char* name;
  const char* unit;
  double scale;
  const google::protobuf::RepeatedField<double>& (DeviceTotalsBatch::*values)() const;
};
constexpr TotalsColumn kTotalsColumns[] = {
    {"NVML utilization", "percent", 1, &DeviceTotalsBatch::gpu_busy_percent},
    {"memory used", "byte", 1, &DeviceTotalsBatch::memory_used_bytes},
    {"power", "watt", 1e-3, &DeviceTotalsBatch::power_milliwatts},
    {"SM clock", "hertz", 1e6, &DeviceTotalsBatch::sm_clock_mhz},
    {"GPM SM active", "percent", 1, &DeviceTotalsBatch::gpm_sm_active_percent},
    {"GPM tensor active", "percent", 1, &DeviceTotalsBatch::gpm_tensor_active_percent},
    {"GPM DRAM active", "percent", 1, &DeviceTotalsBatch::gpm_dram_active_percent},
};

}  // namespace

// GPUs are numbered as they appear; beyond the limit they share the last number.
uint32_t ProfileTracer::GpuOf(const std::string& uuid) {
  const auto known = gpus_.find(uuid);
  if (known != gpus_.end()) return known->second;
  if (gpus_.size() >= kMaxGpus) return static_cast<uint32_t>(kMaxGpus - 1);
  return gpus_.emplace(uuid, static_cast<uint32_t>(gpus_.size())).first->second;
}

bool ProfileTracer::TakeMetricSet(std::string_view payload) {
  Set set;
  if (!Parse(payload, &set.message) || set.message.device_uuid().size() != kGpuUuidBytes ||
      set.message.metric_size() > kMaxMetrics) {
    return false;
  }
  const auto key = std::make_pair(set.message.device_uuid(), set.message.id());
  if (sets_.contains(key)) return true;
  if (sets_.size() >= kMaxSets) return false;
  set.gpu = GpuOf(set.message.device_uuid());
  for (const MetricSet::Metric& metric : set.message.metric()) {
    // A metric of several sets is one counter.
    uint32_t& counter = sampled_counters_[{set.gpu, metric.name()}];
    if (counter == 0) {
      counter = ++counters_;
      sink_->Declare(TraceCounter{counter, set.gpu, metric.name(), metric.unit()});
    }
    set.counters.push_back(counter);
  }
  sets_.emplace(key, std::move(set));
  return true;
}

bool ProfileTracer::TakeSamples(std::string_view payload) {
  SampleBatch batch;
  if (!Parse(payload, &batch, kMaxFramePayloadBytes)) return false;
  const auto found = sets_.find({batch.device_uuid(), batch.metric_set()});
  if (found == sets_.end() || !DecodeSamples(batch, found->second.message, &samples_)) return false;
  const Set& set = found->second;
  std::vector<CounterValue> values(set.counters.size());
  for (size_t sample = 0; sample < samples_.size(); ++sample) {
    for (size_t metric = 0; metric < values.size(); ++metric) {
      values[metric] = {set.counters[metric], samples_.row(sample)[metric]};
    }
    sink_->Write(TraceSample{set.gpu, samples_.start_ns[sample], samples_.end_ns[sample], values});
    result_.counter_values += values.size();
  }
  return true;
}

uint32_t ProfileTracer::TotalsCounter(uint32_t gpu, int column) {
  uint32_t& counter = totals_counters_[{gpu, column}];
  if (counter == 0) {
    counter = ++counters_;
    sink_->Declare(
        TraceCounter{counter, gpu, kTotalsColumns[column].name, kTotalsColumns[column].unit});
  }
  return counter;
}

// A reading holds for the time since the one before; the first of a batch has none before it.
bool ProfileTracer::TakeTotals(std::string_view payload) {
  DeviceTotalsBatch batch;
  if (!Parse(payload, &batch) || batch.device_uuid().size() != kGpuUuidBytes) return false;
  const int count = batch.time_ns_size();
  const uint32_t gpu = GpuOf(batch.device_uuid());
  for (int column = 0; column < static_cast<int>(std::size(kTotalsColumns)); ++column) {
    const TotalsColumn& totals = kTotalsColumns[column];
    const auto& readings = (batch.*totals.values)();
    if (readings.empty()) continue;
    if (readings.size() != count) return false;
    for (int i = 1; i < count; ++i) {
      if (!std::isfinite(readings[i]) || batch.time_ns(i) <= batch.time_ns(i - 1)) continue;
      const CounterValue value = {TotalsCounter(gpu, column), readings[i] * totals.scale};
      sink_->Write(TraceSample{gpu, batch.time_ns(i - 1), batch.time_ns(i), {&value, 1}});
      ++result_.counter_values;
    }
  }
  return true;
}

}  // namespace utlz
