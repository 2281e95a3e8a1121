// What one launch of a kernel is worth by what is known now: of all its parts together.
// Pure, thread-safe.
#ifndef UTLZ_COLLECTOR_METRICS_KERNEL_WORTH_H_
#define UTLZ_COLLECTOR_METRICS_KERNEL_WORTH_H_

#include <map>
#include <optional>
#include <span>
#include <string>

#include "collector/analysis/analysis.h"
#include "collector/metrics/time_cause.h"

namespace utlz {

struct KernelWorth {
  // Of one launch.
  std::map<std::string, double> flops;  // of tensor cores, by data type; empty: not known, or none
  std::optional<double> peak_ns;        // that these need at the peak
  std::optional<double> read_bytes;
  std::optional<double> write_bytes;
  // Of its time.
  double counted_share = 0;             // with known FLOPs and bytes
  std::optional<double> savings_share;  // beyond the roofline
  CauseTimes causes{};                  // sums to one

  bool counted() const { return counted_share > 0; }
};

// The worth of a kernel if only its time is known.
KernelWorth UnknownWorth();

// `rows` are those of one kernel.
KernelWorth WorthOf(std::span<const KernelRow> rows, const Ceilings& ceilings);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_KERNEL_WORTH_H_
