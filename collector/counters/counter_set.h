// What one metric set of the sampler measures, brought to units that no chip or roll-up changes:
// bytes, instructions, cycles of one SM's clock, and for pipes "full cycles": the cycles that the
// whole GPU at its peak would have needed. Tensor FLOPs = full cycles × FLOPs per cycle of the data
// type; active share = full cycles ÷ elapsed cycles.
#ifndef UTLZ_COLLECTOR_COUNTERS_COUNTER_SET_H_
#define UTLZ_COLLECTOR_COUNTERS_COUNTER_SET_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz {

class CounterSet {
 public:
  // `multiprocessors` is needed for sums over SMs whose peak the set does not say; 0 = unknown.
  CounterSet(const MetricSet& set, uint32_t multiprocessors);

  // Roles that can be converted, in the order of the converted values. A role is listed once.
  const std::vector<MetricRole>& roles() const { return roles_; }
  // Place of `role` in a converted row.
  std::optional<size_t> IndexOf(MetricRole role) const;

  // One sample's values in the set's units → by role. False where a value is not a number.
  bool Convert(std::span<const double> row, std::vector<double>* converted) const;

 private:
  enum class Conversion { kAsIs, kDivide, kPercentOfElapsed };
  struct Column {
    size_t metric;
    Conversion conversion;
    double divisor;
  };

  void AddColumn(const MetricSet::Metric& metric, size_t index, uint32_t multiprocessors);

  std::vector<MetricRole> roles_;
  std::vector<Column> columns_;
  std::optional<size_t> elapsed_metric_;
  double elapsed_divisor_ = 1;
};

// Whether the role counts cycles of a pipe or of SMs being busy, converted to full cycles.
bool IsActivityRole(MetricRole role);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_COUNTERS_COUNTER_SET_H_
