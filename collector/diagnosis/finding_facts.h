// What the rules of the diagnosis look at: times summed over the run's devices, in one place.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_FINDING_FACTS_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_FINDING_FACTS_H_

#include <string>

#include "collector/analysis/analysis.h"

namespace utlz {

struct GapTotal {
  double gaps = 0;
  double time_ns = 0;
};

// Times in nanoseconds, summed over devices, all of the steady part: times of kernels are parts of
// the time in which some kernel ran, so that no share exceeds the whole.
struct FindingFacts {
  const Summary* summary = nullptr;
  double window_ns = 0;         // traced time of the steady part
  double step_ns = 0;           // a mean step; 0 = no steps
  double traced_launch_ns = 0;  // what tracing adds to the host's time for a launch
  double traced_graphs_ns = 0;  // and what it added to launches of graphs, in the steady part
  GapTotal launch_gaps, readback_gaps, upload_gaps, other_gaps;
  double pageable_exposed_ns = 0;  // copies of pageable memory while no kernel ran
  double pinned_exposed_ns = 0;    // other copies between host and device
  double communication_exposed_ns = 0;
  double elementwise_memory_ns = 0;        // kernels that a compiler could fuse, moving bytes mostly
  double matrix_memory_ns = 0;             // memory-bound matrix kernels
  double latency_ns = 0;                   // neither roof near, though blocks enough
  double latency_recoverable_ns = 0;
  double small_grid_ns = 0;                // kernels of fewer blocks than the GPU has SMs
  double small_grid_gain_ns = 0;           // were the GPU full
  double single_precision_ns = 0;          // matrix kernels on the FP32 pipes
  double single_precision_gain_ns = 0;     // were they done in TF32
  double throttled_ns = 0;                 // lost to clocks held down by heat
  std::string lagging_process;             // that the others wait for: "rank 3"; empty: none
  double lagging_last_share = 0;           // of collectives in which it was the last
  double lagging_delay_ns = 0;             // of a collective, mean, where it was the last
  double lagging_lost_ns = 0;
  double busy_share = 0;
  double sm_active_share = 0;              // 0 = not known
  bool counters = false;
  std::string top_kernel;                  // recoverable time alone worth a finding
  double top_kernel_recoverable_ns = 0;
  double top_kernel_efficiency = 0;
  bool top_kernel_in_latency = false;     // its time is in latency_ns
  bool top_kernel_in_small_grid = false;  // in small_grid_ns
};

FindingFacts GatherFacts(const ModelState& model, const Analysis& analysis, const Summary& summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_FINDING_FACTS_H_
