// What the rules of the diagnosis look at: times summed over the run's devices, in one place.
#ifndef UTLZ_COLLECTOR_MODEL_FINDING_FACTS_H_
#define UTLZ_COLLECTOR_MODEL_FINDING_FACTS_H_

#include <string>
#include <string_view>

#include "collector/model/analysis.h"

namespace utlz {

// Times in nanoseconds, summed over devices.
struct FindingFacts {
  const Summary* summary = nullptr;
  double window_ns = 0;            // first to last activity
  double kernel_ns = 0;            // of compute kernels, each by itself
  double launches = 0;
  GapTotal launch_gaps, readback_gaps, upload_gaps, other_gaps;
  double pageable_exposed_ns = 0;  // copies of pageable memory while no kernel ran
  double pinned_exposed_ns = 0;    // other copies between host and device
  double communication_exposed_ns = 0;
  double elementwise_memory_ns = 0;        // kernels that a compiler could fuse, moving bytes mostly
  double matrix_memory_ns = 0;             // memory-bound matrix kernels
  double latency_ns = 0;
  double latency_recoverable_ns = 0;
  double single_precision_ns = 0;          // matrix kernels on the FP32 pipes
  double single_precision_gain_ns = 0;     // were they done in TF32
  double throttled_ns = 0;                 // lost to clocks held down by heat
  double busy_share = 0;
  double sm_active_share = 0;              // 0 = not known
  bool counters = false;
  std::string top_kernel;                  // recoverable time alone worth a finding
  double top_kernel_recoverable_ns = 0;
  double top_kernel_efficiency = 0;
};

FindingFacts GatherFacts(const ModelState& model, const Analysis& analysis, const Summary& summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_FINDING_FACTS_H_
