// What the samples of one window say of whether the GPU did anything.
#ifndef UTLZ_COLLECTOR_SAMPLER_COUNTERS_WINDOW_ACTIVITY_H_
#define UTLZ_COLLECTOR_SAMPLER_COUNTERS_WINDOW_ACTIVITY_H_

#include <cstdint>
#include <span>

#include "collector/sampler/counters/metric_selection.h"

namespace utlz {

class WindowActivity {
 public:
  // Metrics without elapsed SM cycles are not sampled.
  explicit WindowActivity(const SelectedMetrics& metrics);

  // One sample; `values` in the order of the metrics.
  void Add(uint64_t time_ns, std::span<const double> values);

  // Multiprocessors worked, or that was not counted.
  bool Computes(int multiprocessors) const;
  // Memory was read or written.
  bool Copies() const;
  double elapsed_cycles() const { return elapsed_cycles_; }
  double sampled_ns() const { return sampled_ns_; }

 private:
  int elapsed_;  // where a metric is among the values; below zero: nowhere
  int active_;
  int read_;
  int write_;
  double elapsed_cycles_ = 0;
  double active_cycles_ = 0;
  double dram_bytes_ = 0;
  double sampled_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_COUNTERS_WINDOW_ACTIVITY_H_
