#include "tools/merge/device_frames.h"

#include <algorithm>

#include "proto/profile.pb.h"

namespace utlz {

bool DeviceFrames::Take(size_t input, uint16_t type, std::string* payload) {
  switch (type) {
    case FRAME_METRIC_SET:
      return TakeMetricSet(payload);
    case FRAME_SAMPLES:
      return TakeSamples(payload);
    case FRAME_DEVICE_TOTALS:
      return TakeTotals(input, *payload);
    default:
      return true;
  }
}

bool DeviceFrames::TakeMetricSet(std::string* payload) {
  MetricSet set;
  if (!set.ParseFromString(*payload)) return false;
  const uint32_t id = set.id();
  set.clear_id();
  const auto [known, is_new] = metric_sets_.try_emplace(set.SerializeAsString(), id);
  kept_metric_set_[id] = known->second;
  return is_new;
}

bool DeviceFrames::TakeSamples(std::string* payload) {
  SampleBatch batch;
  if (!batch.ParseFromString(*payload)) return false;
  if (!batches_.emplace(batch.device_uuid(), batch.base_ns()).second) return false;
  const auto kept = kept_metric_set_.find(batch.metric_set());
  if (kept == kept_metric_set_.end() || kept->second == batch.metric_set()) return true;
  batch.set_metric_set(kept->second);
  return batch.SerializeToString(payload);
}

// Readings of two samplers at about the same times are of one kind: one input's are enough, until
// another's are newer than all of them.
bool DeviceFrames::TakeTotals(size_t input, const std::string& payload) {
  DeviceTotalsBatch batch;
  if (!batch.ParseFromString(payload)) return false;
  if (batch.time_ns().empty()) return true;
  const auto [first, last] = std::minmax_element(batch.time_ns().begin(), batch.time_ns().end());
  Totals& totals = totals_.try_emplace(batch.device_uuid(), Totals{input, 0}).first->second;
  if (totals.input != input && *first <= totals.last_ns) return false;
  totals = {input, std::max(totals.last_ns, *last)};
  return true;
}

}  // namespace utlz
