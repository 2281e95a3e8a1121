// What Analyze() finds: every kernel variant, split where its launches do different work, with its
// launches and time scaled to the run and the work of one launch.
#ifndef UTLZ_COLLECTOR_ANALYSIS_ANALYSIS_H_
#define UTLZ_COLLECTOR_ANALYSIS_ANALYSIS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/analysis/even_steps.h"
#include "collector/analysis/kernel_work.h"
#include "collector/analysis/steady_part.h"
#include "collector/capture_trust.h"

namespace utlz {

struct KernelRow {
  uint32_t kernel = 0;  // index into KernelTable
  KernelPart part;
  DurationHistogram durations;  // of the launches that were traced
  double launches = 0;          // scaled to the run
  // Sum, scaled to the run. Kernels that ran at once share the time (SharedTime), so that rows add
  // up to the time in which kernels ran.
  double time_ns = 0;
  double own_share = 1;            // of its launches' time, what `time_ns` holds
  double gap_error_ns = 0;         // standard error of time_ns by how untraced time is divided
  double steady_share = 1;         // of `launches` and `time_ns`: what lies in the steady part
  double traced_steady_share = 1;  // the same of the launches that were traced
  bool scaled = false;
  std::optional<FlopBounds> by_code;  // of one launch, outside the tensor cores
  KernelWork work;                    // of one launch
  RooflineWork roofline;              // of all launches
  RooflineWork attained;         // the same under measured ceilings; unknown where there are none
  bool overlapped = false;       // `work` is withheld: see DeviceAnalysis::overlap_share
  bool flops_uncertain = false;  // no report of the kernel alone may show its FLOPs
  std::string withheld;  // why its counters are not shown, its rooflines unknown; else empty
};

struct DeviceAnalysis {
  Ceilings ceilings;
  DevicePart part;  // what it did in the steady part
  EvenSteps even_steps;
  bool sampled = false;
  // Of the time in which kernels ran, when those of several traced processes did.
  double overlap_share = 0;
  Attribution attribution;
  std::string fallback_type;  // of tensor kernels whose names do not tell
};

struct Analysis {
  SteadyPart steady;
  std::vector<DeviceAnalysis> devices;  // as DeviceTable
  std::vector<KernelRow> rows;          // kernels with at least one launch
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_ANALYSIS_H_
