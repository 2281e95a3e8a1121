#include "bench/diagnosis/sampled_metrics.h"

namespace utlz {

MetricValues ValuesOf(const LaunchWork& work) {
  return {work.dram_read_bytes, work.dram_write_bytes, 0,
          work.tensor_cycles,   work.sm_active_cycles, work.fma_instructions};
}

void AddSampledMetrics(uint32_t multiprocessors, MetricSet* set) {
  for (const SampledMetric& known : kSampledMetrics) {
    MetricSet::Metric* metric = set->add_metric();
    metric->set_name(known.name);
    metric->set_role(known.role);
    metric->set_unit(known.unit);
    metric->set_resolution(known.resolution);
    metric->set_peak_per_cycle(known.peak_per_multiprocessor * multiprocessors);
  }
}

}  // namespace utlz
