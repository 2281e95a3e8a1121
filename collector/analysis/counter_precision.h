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
  // The worst of all kernels with at least 1 % of the time, or of the largest that do half of the
  // work, where those do less: the half-width of the 95 % interval of their bytes or tensor cycles
  // ÷ the value, or ÷ two thirds of what the GPU could do meanwhile, where that is more: so much of
  // a roofline is not read more closely. Of tensor cycles 5 quarters of it: within 4 % they are as
  // good as bytes within 5 %. 1 where a kernel has none.
  double imprecision = 1;
};

// Of the GPUs that were sampled. Solves the attribution, which takes up to a second where there are
// thousands of kernels.
std::vector<CounterPrecision> CounterPrecisions(const RunState& state);

// CounterPrecision::imprecision of one GPU whose counters were attributed so.
double Imprecision(const RunState& state, uint32_t device, const Attribution& attribution);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_COUNTER_PRECISION_H_
