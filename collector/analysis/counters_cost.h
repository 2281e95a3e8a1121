// What a GPU's counters cost the programs on it, besides processor time: they take power, so that a
// GPU whose clock is limited by power is slower while they are set.
#ifndef UTLZ_COLLECTOR_ANALYSIS_COUNTERS_COST_H_
#define UTLZ_COLLECTOR_ANALYSIS_COUNTERS_COST_H_

#include "collector/run/device_state.h"

namespace utlz {

// Nanoseconds of the GPU's time.
struct CountersCost {
  double ns = 0;
  double error_ns = 0;
  // By the sampler's own account of how long they were set. Else, for profiles of older samplers,
  // by how long they were sampled, whether power limited the clock or not.
  bool is_accounted = false;
};

CountersCost CountersCostOf(const DeviceState& device);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_COUNTERS_COST_H_
