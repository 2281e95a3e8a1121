// What the attribution engine has to know about its input before it starts.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_OPTIONS_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace utlz::attribution {

// One sampled device counter. Samples carry its increase over their span, so a metric that the
// hardware gives as a share of a peak must be multiplied by the peak before it is added.
struct CounterSpec {
  std::string name;
  // Counters of one group are taken at one place of the chip and share one time shift against the
  // kernels: DRAM reads, DRAM writes (which lag behind) and SM counters are three groups.
  std::string shift_group;
  // The most that the hardware can count in a nanosecond; a sample above it is refused (a counter
  // that wrapped). Infinite where the caller does not know.
  double max_per_ns = std::numeric_limits<double>::infinity();
  // Counted behind caches: of a launch that moves little, what they happen to hold is all of it.
  bool behind_caches = false;
};

// Kernels that work more at one end of their life look early or late by constant rates, and a GPU
// takes about half a microsecond to start or drain one.
inline constexpr double kUsualEdgeErrorNs = 500;

struct Options {
  std::vector<CounterSpec> counters;
  // Bound of the linear system; its memory is 8 bytes x max_columns squared for every shift group.
  size_t max_columns = 640;
  // Variants that are kept apart; launches of later ones are folded into one named group. A program
  // that tunes tries thousands out before its first step.
  size_t max_variants = 1u << 16;
  // Samples kept at the start, from which shifts, kinds of launches and columns are chosen.
  size_t warmup_samples = 65536;
  // Intervals kept while waiting for samples; beyond it the oldest are dropped and counted.
  size_t max_pending_intervals = 1u << 20;
  size_t max_pending_samples = 1u << 18;

  // Assumptions: what one recording cannot show. Each adds to every interval, and is part of
  // CounterEstimate::assumed_error. docs/design/attribution.md says what each was taken from.

  // Relative error: caches, clocks and neighbours differ between one run of a kernel and the next
  // measurement of it.
  double reproducibility = 0.02;
  // How far the division of a sample among launches may be off, as a share of the geometric mean
  // of a launch's part and the others': shapes are smooth between their knots, real rates are not.
  double shape_error = 0.03;
  // For counters behind caches, of what the busiest column moves in the launch's time: what is less
  // than this is what caches kept or gave up, and differs between two measurements of one kernel.
  double cache_share = 0.00025;
  // How well one launch's edges are placed by its timestamps, a standard deviation: timers of GPUs
  // count in steps of 32 ns and more, and blocks do not start and stop at one moment.
  double timestamp_error_ns = 50;
  // How far the counters' edges lie from where the shift puts them, a standard error.
  double edge_error_ns = kUsualEdgeErrorNs;
  // A rate over a launch's life beside its mean, a relative standard deviation: even between none
  // and twice the mean. Of the part of a life that samples hardly ever saw; and of how much more
  // launches do that take longer, where too few were seen to tell.
  double rate_spread = 0.58;
};

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_OPTIONS_H_
