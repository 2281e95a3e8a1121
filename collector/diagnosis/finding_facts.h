// What the rules of the diagnosis look at: times summed over the run's devices, by topic.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_FINDING_FACTS_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_FINDING_FACTS_H_

#include <string>

#include "collector/analysis/analysis.h"
#include "collector/kernel_names/framework.h"

namespace utlz {

struct GapTotal {
  double gaps = 0;
  double time_ns = 0;
};

// A place in the program at which the GPU stands idle for long.
struct GapPlace {
  double gaps = 0;
  double time_ns = 0;
  double spread_ns = 0;  // standard deviation of a gap's length
  std::string before;    // the kernels on both sides, by their short names
  std::string after;
};

// Idle time. The three sums that are no totals divide `other` among them.
struct GapFacts {
  GapTotal turnaround;  // too short for the host to be known to cause them
  GapTotal launch, readback, upload, other;
  // Those gaps of `readback` after which the program sent its next input: they end with a copy to
  // the device. Counted in the whole run.
  GapTotal answered;
  double answered_spread_ns = 0;  // standard deviation of their lengths
  double between_steps_ns = 0;
  double first_calls_ns = 0;
  double inside_ns = 0;
  GapPlace between_steps;  // each gap as often as its step counts
  GapPlace first_calls;
  GapPlace longest_inside;
};

struct CopyFacts {
  double pageable_exposed_ns = 0;  // copies of pageable memory while no kernel ran
  double pinned_exposed_ns = 0;    // other copies between host and device
  double peer_exposed_ns = 0;      // copies between devices
  double peer_waited_ns = 0;       // for which other devices of their process stood idle meanwhile
  // Of both, copies to the host after which the GPU stood idle. The program waits for copy and idle
  // time alike: they are one loss, which one rule reports (ReadBackBesideCopiesNs).
  double pageable_read_back_ns = 0;
  double pinned_read_back_ns = 0;
};

struct CommunicationFacts {
  double exposed_ns = 0;
  std::string lagging_process;    // that the others wait for: "rank 3"; empty: none
  double lagging_last_share = 0;  // of collectives in which it was the last
  double lagging_delay_ns = 0;    // of a collective, mean, where it was the last
  double lagging_lost_ns = 0;     // no more than waits that no kernel hides
  double uneven_ns = 0;           // waits that no kernel hides, for one process after the other
};

// Kernels that lose time in one way, and the one of them that loses most.
struct KernelLoss {
  double time_ns = 0;
  double lost_ns = 0;  // beyond what kernels of this family usually reach
  std::string worst;   // short name
  double worst_lost_ns = 0;
  double worst_efficiency = 0;  // roofline time ÷ time
};

// Times of kernels. Each kernel's loss is in one KernelLoss.
struct KernelFacts {
  KernelLoss normalization, pooling, matrix, streaming, latency;
  KernelLoss one_kernel;      // one that is most of what its kind would lose, named by itself
  double elementwise_ns = 0;  // kernels that a compiler could fuse, moving bytes mostly
  double elementwise_gain_ns = 0;
  std::string longest_elementwise;  // short name
  double longest_elementwise_ns = 0;
  double compiled_ns = 0;               // kernels that a compiler fused already
  double weights_ns = 0;                // matrix kernels at the roof of DRAM, reading weights
  double activations_ns = 0;            // those that move what goes in and out of them
  double narrow_ns = 0;                 // at the roof of DRAM too, in tiles of few rows
  double narrow_rows = 0;               // of these tiles
  double wide_matrix_ns = 0;            // matrix kernels that are not narrow
  double small_grid_ns = 0;             // kernels of clearly fewer blocks than the GPU has SMs
  double small_grid_gain_ns = 0;        // were the GPU full
  double single_precision_ns = 0;       // matrix kernels on the FP32 pipes
  double single_precision_gain_ns = 0;  // were they done in TF32
  double padding_ns = 0;                // that matrix kernels spend on FLOPs beyond the model's
  double padding_share = 0;             // these FLOPs ÷ the model's
  double matrix_compute_ns = 0;         // matrix kernels that are not bound by bytes
  double savings_ns = 0;                // of all kernels, down to their rooflines
  Framework framework = Framework::kUnknown;  // of all kernels that are of one
  bool learns = false;                        // some kernel is of a backward pass or an optimizer
  bool generates = false;                     // tokens, one after the other
};

// Times in nanoseconds, summed over devices, all of the steady part: times of kernels are parts of
// the time in which some kernel ran, so that no share exceeds the whole.
struct FindingFacts {
  const Summary* summary = nullptr;
  double window_ns = 0;         // traced time of the steady part
  double step_ns = 0;           // a mean step; 0 = no steps
  double traced_launch_ns = 0;  // what tracing is supposed to add to the host's time for a launch
  double traced_graphs_ns = 0;  // and to have added to launches of graphs, in the steady part
  double throttled_ns = 0;      // lost to clocks held down by heat
  double busy_share = 0;
  double sm_active_share = 0;  // 0 = not known
  bool counters = false;
  GapFacts gaps;
  CopyFacts copies;
  CommunicationFacts communication;
  KernelFacts kernels;
  // By index of `summary`'s devices: of the steady part, kernels without exposed communication.
  std::vector<double> compute_shares;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_FINDING_FACTS_H_
