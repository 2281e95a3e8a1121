#include "collector/counters/sample_totals.h"

namespace utlz {

void SampleTotals::AddSeries(const CounterSet& counters, uint64_t start_ns, uint64_t end_ns,
                             const std::vector<double>& row) {
  const auto value = [&](MetricRole role) -> std::optional<double> {
    const auto index = counters.IndexOf(role);
    return index.has_value() ? std::make_optional(row[*index]) : std::nullopt;
  };
  const auto elapsed = value(METRIC_SM_CYCLES_ELAPSED);
  if (elapsed.value_or(0) > 0) {
    if (const auto active = value(METRIC_SM_CYCLES_ACTIVE)) {
      sm_active_series_.Add(start_ns, end_ns, *active / *elapsed);
    }
    if (const auto tensor = value(METRIC_TENSOR_ACTIVE)) {
      tensor_active_series_.Add(start_ns, end_ns, *tensor / *elapsed);
    }
  }
  const auto read = value(METRIC_DRAM_READ_BYTES);
  const auto write = value(METRIC_DRAM_WRITE_BYTES);
  if (read.has_value() && write.has_value() && end_ns > start_ns) {
    dram_series_.Add(start_ns, end_ns,
                     (*read + *write) / static_cast<double>(end_ns - start_ns) * 1e9);
  }
}

void SampleTotals::Add(const CounterSet& counters, uint64_t start_ns, uint64_t end_ns,
                       const std::vector<double>& row) {
  const uint64_t span_ns = end_ns - start_ns;
  ++samples_;
  sampled_ns_ += span_ns;
  for (size_t i = 0; i < row.size(); ++i) {
    Total& total = totals_[counters.roles()[i]];
    total.sum += row[i];
    total.time_ns += span_ns;
  }
  AddSeries(counters, start_ns, end_ns, row);
  const auto elapsed = counters.IndexOf(METRIC_SM_CYCLES_ELAPSED);
  const auto active = counters.IndexOf(METRIC_SM_CYCLES_ACTIVE);
  if (elapsed.has_value() && active.has_value() && span_ns > 0) {
    const double clock_hz = row[*elapsed] / static_cast<double>(span_ns) * 1e9;
    sm_clock_under_load_.Add(start_ns, end_ns, clock_hz, row[*active]);
  }
}

std::optional<double> SampleTotals::PerSecond(MetricRole role) const {
  const Total& total = totals_[role];
  if (total.time_ns == 0) return std::nullopt;
  return total.sum / static_cast<double>(total.time_ns) * 1e9;
}

}  // namespace utlz
