#include "collector/decode/sample_decoder.h"

namespace utlz {
namespace {

bool DecodeTimes(const SampleBatch& batch, DecodedSamples* decoded) {
  const int samples = static_cast<int>(batch.samples());
  if (batch.interval_residual_ns_size() != samples && batch.interval_residual_ns_size() != 0) {
    return false;
  }
  if (batch.gap_sample_size() != batch.gap_ns_size()) return false;
  uint64_t time = batch.base_ns();
  int gap = 0;
  for (int i = 0; i < samples; ++i) {
    if (gap < batch.gap_sample_size() && batch.gap_sample(gap) == static_cast<uint32_t>(i)) {
      time += static_cast<uint64_t>(batch.gap_ns(gap++));
    }
    const int32_t residual =
        batch.interval_residual_ns_size() != 0 ? batch.interval_residual_ns(i) : 0;
    const uint64_t end = time + batch.interval_ns() + static_cast<uint64_t>(int64_t{residual});
    if (static_cast<int64_t>(time) <= 0 ||
        static_cast<int64_t>(end) <= static_cast<int64_t>(time)) {
      return false;
    }
    decoded->start_ns.push_back(time);
    decoded->end_ns.push_back(end);
    time = end;
  }
  return gap == batch.gap_sample_size();
}

}  // namespace

bool DecodeSamples(const SampleBatch& batch, const MetricSet& set, DecodedSamples* decoded) {
  decoded->start_ns.clear();
  decoded->end_ns.clear();
  decoded->values.clear();
  const int metrics = set.metric_size();
  if (batch.samples() > kMaxSamplesPerBatch || metrics > kMaxMetrics ||
      batch.column_size() != metrics) {
    return false;
  }
  // Checked before memory is taken for the values.
  for (const SampleBatch::Column& column : batch.column()) {
    if (static_cast<uint32_t>(column.delta_size()) != batch.samples()) return false;
  }
  if (!DecodeTimes(batch, decoded)) return false;
  decoded->metrics = static_cast<uint32_t>(metrics);
  decoded->values.resize(size_t{batch.samples()} * decoded->metrics);
  for (int metric = 0; metric < metrics; ++metric) {
    const double resolution = set.metric(metric).resolution();
    uint64_t integer = 0;
    for (uint32_t i = 0; i < batch.samples(); ++i) {
      integer += static_cast<uint64_t>(batch.column(metric).delta(static_cast<int>(i)));
      decoded->values[i * decoded->metrics + static_cast<uint32_t>(metric)] =
          static_cast<double>(static_cast<int64_t>(integer)) * (resolution > 0 ? resolution : 1.0);
    }
  }
  return true;
}

}  // namespace utlz
