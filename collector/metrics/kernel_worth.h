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
  // Of its time. One may be known without the other.
  double flops_share = 0;               // with known FLOPs, none at all included
  double bytes_share = 0;               // with known bytes
  std::optional<double> savings_share;  // beyond the roofline
  CauseTimes causes{};                  // sums to one
};

// What the rows of a kernel do not say.
struct WorthFacts {
  bool matrix = false;  // its name says that it multiplies matrices: it has FLOPs
  // Other programs used the GPU too. They run in turns with this one: launches that were
  // interrupted look longer, and samples of that time hold the others' work. What the shortest
  // launches did is then taken for what those did that may have been interrupted.
  bool shared = false;
};

// The worth of a kernel if only its time is known.
KernelWorth UnknownWorth();

// `rows` are those of one kernel, by ascending duration. A figure that is too uncertain to be shown
// of a kernel counts, since the errors of many kernels cancel in a sum.
KernelWorth WorthOf(std::span<const KernelRow> rows, const Ceilings& ceilings,
                    const WorthFacts& facts);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_KERNEL_WORTH_H_
