// Whether more samples would show more about the kernels that matter.
#ifndef UTLZ_COLLECTOR_ANALYSIS_COUNTER_PRECISION_H_
#define UTLZ_COLLECTOR_ANALYSIS_COUNTER_PRECISION_H_

#include <cstdint>
#include <string>
#include <vector>

namespace utlz {

struct Attribution;
struct RunState;

// How well the counters of a GPU's kernels are known.
struct CounterPrecision {
  std::string device_uuid;  // 16 bytes
  uint64_t samples = 0;
  // The largest relative half-width of a 95 % interval, of bytes or of tensor cycles, among the
  // kernels that matter: those with at least 1 % of the time, or, where these do less than half of
  // the work, the largest that together do half. Kernels that have not run for a while do not
  // matter, such as those that only the start-up ran: more samples would tell nothing about them.
  //
  // Relative to the value, or to two thirds of what the GPU could do in that time if that is more:
  // a roofline is not read more closely. Half-widths of tensor cycles count 5/4, since 4 % of them
  // are as good as 5 % of bytes. 1 if such a kernel has no counters.
  double imprecision = 1;
};

// Of the GPUs that were sampled. Solves the attribution, which takes up to a second where there are
// thousands of kernels.
std::vector<CounterPrecision> CounterPrecisions(const RunState& state);

// CounterPrecision::imprecision of one GPU whose counters were attributed so.
double Imprecision(const RunState& state, uint32_t device, const Attribution& attribution);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_COUNTER_PRECISION_H_
