// What the samples of a metric add up to.
#ifndef UTLZ_TESTS_UNIT_METRICS_SUM_OF_METRIC_H_
#define UTLZ_TESTS_UNIT_METRICS_SUM_OF_METRIC_H_

#include "collector/metrics/metrics_snapshot.h"

namespace utlz {

inline double SumOf(const MetricsSnapshot& snapshot, Metric metric) {
  double sum = 0;
  for (const MetricSample& sample : snapshot.Of(metric)) sum += sample.value;
  return sum;
}

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_METRICS_SUM_OF_METRIC_H_
