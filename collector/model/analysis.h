// The step between what was recorded and what is shown: every kernel variant, split where its
// launches do different work, with its launches and time scaled to the run and the work of one
// launch. Made anew for each summary.
#ifndef UTLZ_COLLECTOR_MODEL_ANALYSIS_H_
#define UTLZ_COLLECTOR_MODEL_ANALYSIS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/model/kernel_work.h"
#include "collector/model/steady_part.h"

namespace utlz {

struct KernelRow {
  uint32_t kernel = 0;            // index into KernelTable
  KernelPart part;
  DurationHistogram durations;    // of the launches that were traced
  double launches = 0;            // scaled to the run
  double time_ns = 0;             // sum, scaled to the run
  double gap_error_ns = 0;        // of it, standard: how untraced time is divided among kernels
  double steady_share = 1;        // of launches and time: what lies in the steady part
  bool scaled = false;
  KernelWork work;                // of one launch
  RooflineWork roofline;          // of all launches
  RooflineWork attained;          // the same under measured ceilings; unknown where there are none
};

struct DeviceAnalysis {
  Ceilings ceilings;
  DevicePart part;  // what it did in the steady part
  bool sampled = false;
  Attribution attribution;
  std::string fallback_type;      // of tensor kernels whose names do not tell
};

struct Analysis {
  SteadyPart steady;
  std::vector<DeviceAnalysis> devices;  // as DeviceTable
  std::vector<KernelRow> rows;          // kernels with at least one launch
};

Analysis Analyze(const ModelState& model, const std::optional<StepsSpan>& steps);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_ANALYSIS_H_
