// What the metrics of a run were at one moment. The collector makes it once, and nobody changes it
// after that, so that any number of threads may read it.
#ifndef UTLZ_COLLECTOR_METRICS_METRICS_SNAPSHOT_H_
#define UTLZ_COLLECTOR_METRICS_METRICS_SNAPSHOT_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/metrics/metric_table.h"

namespace utlz {

// Names are ours; values may be any text, bounded (label_text.h).
using Labels = std::vector<std::pair<const char*, std::string>>;

struct MetricSample {
  Labels labels;
  double value = 0;
};

// Empty where the sample has no such label.
inline std::string_view LabelOf(const MetricSample& sample, std::string_view name) {
  for (const auto& [label, value] : sample.labels) {
    if (label == name) return value;
  }
  return {};
}

struct MetricsSnapshot {
  std::array<std::vector<MetricSample>, kMetrics> samples;  // by Metric; none: not known

  void Add(Metric metric, Labels labels, double value) {
    samples[static_cast<size_t>(metric)].push_back({std::move(labels), value});
  }
  const std::vector<MetricSample>& Of(Metric metric) const {
    return samples[static_cast<size_t>(metric)];
  }
  // What only grows is true for ever; what was true of a moment is not.
  void RemoveGauges() {
    for (size_t i = 0; i < kMetrics; ++i) {
      if (DescriptionOf(static_cast<Metric>(i)).type == MetricType::kGauge) samples[i].clear();
    }
  }
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_METRICS_SNAPSHOT_H_
