// What the counters of one device say as a whole, added up over the time that was sampled, and the
// clock that the SMs ran at while they worked. Thread safety: none.
#ifndef UTLZ_COLLECTOR_COUNTERS_SAMPLE_TOTALS_H_
#define UTLZ_COLLECTOR_COUNTERS_SAMPLE_TOTALS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "collector/counters/counter_set.h"
#include "collector/counters/sm_clock_under_load.h"
#include "collector/timeline/bounded_series.h"

namespace utlz {

class SampleTotals {
 public:
  // `row` as CounterSet::Convert made it.
  void Add(const CounterSet& counters, uint64_t start_ns, uint64_t end_ns,
           const std::vector<double>& row);
  void AddLost(uint64_t samples) { lost_ += samples; }
  void AddRefused() { ++refused_; }
  // Of more than the GPU can count (counter_limits.h).
  void AddImplausible() { ++implausible_; }

  uint64_t samples() const { return samples_; }
  uint64_t lost() const { return lost_; }
  uint64_t refused() const { return refused_; }
  uint64_t implausible() const { return implausible_; }
  uint64_t sampled_ns() const { return sampled_ns_; }
  // Total of a role over the samples that held it, per second of them.
  std::optional<double> PerSecond(MetricRole role) const;
  // The same total, and the time of the samples that held it.
  double Sum(MetricRole role) const { return totals_[role].sum; }
  uint64_t SampledNs(MetricRole role) const { return totals_[role].time_ns; }
  // Weighted by the SMs' active cycles.
  const SmClockUnderLoad& sm_clock_under_load() const { return sm_clock_under_load_; }

  // Shares of the device, and bytes per second.
  const BoundedSeries& sm_active_series() const { return sm_active_series_; }
  const BoundedSeries& tensor_active_series() const { return tensor_active_series_; }
  const BoundedSeries& dram_series() const { return dram_series_; }

 private:
  void AddSeries(const CounterSet& counters, uint64_t start_ns, uint64_t end_ns,
                 const std::vector<double>& row);

  struct Total {
    double sum = 0;
    uint64_t time_ns = 0;
  };
  std::array<Total, MetricRole_ARRAYSIZE> totals_{};
  uint64_t samples_ = 0;
  uint64_t lost_ = 0;
  uint64_t refused_ = 0;
  uint64_t implausible_ = 0;
  uint64_t sampled_ns_ = 0;
  BoundedSeries sm_active_series_, tensor_active_series_, dram_series_;
  SmClockUnderLoad sm_clock_under_load_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_COUNTERS_SAMPLE_TOTALS_H_
