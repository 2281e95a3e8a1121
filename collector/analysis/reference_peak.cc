#include "collector/analysis/reference_peak.h"

#include <algorithm>
#include <utility>

#include "collector/text/number_text.h"

namespace utlz {
namespace {

// FLOPs that were counted, and the time that they need at the peaks of their data types.
struct PeakWork {
  double flops = 0;
  double time_ns = 0;
  std::map<std::string, double> time_ns_by_type;
};

PeakWork WorkOfDevice(const RunState& state, const Analysis& analysis, uint32_t device) {
  PeakWork work;
  for (const KernelRow& row : analysis.rows) {
    if (state.kernels[row.kernel].device != device) continue;
    for (const TypedFlops& typed : row.work.flops) {
      const auto peak = analysis.devices[device].ceilings.FlopsPerSecond(typed.data_type);
      if (typed.by_pipe || !peak.has_value()) continue;
      const double flops = row.launches * typed.flops;
      work.flops += flops;
      work.time_ns += flops / *peak * 1e9;
      work.time_ns_by_type[typed.data_type] += flops / *peak * 1e9;
    }
  }
  return work;
}

}  // namespace

ReferencePeak PeakOf(const RunState& state, const Analysis& analysis, uint32_t device) {
  const Ceilings& ceilings = analysis.devices[device].ceilings;
  PeakWork work = WorkOfDevice(state, analysis, device);
  ReferencePeak peak;
  if (work.time_ns > 0) {
    peak.flops_per_second = work.flops / (work.time_ns * 1e-9);
    peak.time_ns_by_type = std::move(work.time_ns_by_type);
  } else {
    const std::string& type = analysis.devices[device].fallback_type;
    peak.flops_per_second = ceilings.FlopsPerSecond(type).value_or(0);
    if (peak.flops_per_second > 0) peak.time_ns_by_type[type] = 1;
  }
  if (ceilings.clock_hz > 0 && ceilings.clock_maximum_hz > 0) {
    peak.flops_per_second_maximum_clock =
        peak.flops_per_second * std::max(1.0, ceilings.clock_maximum_hz / ceilings.clock_hz);
  }
  return peak;
}

ReferencePeak PeakOfRun(const RunState& state, const Analysis& analysis) {
  ReferencePeak sum;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!state.devices[i].used) continue;
    const ReferencePeak peak = PeakOf(state, analysis, i);
    sum.flops_per_second += peak.flops_per_second;
    sum.flops_per_second_maximum_clock += peak.flops_per_second_maximum_clock;
    for (const auto& [type, time_ns] : peak.time_ns_by_type) sum.time_ns_by_type[type] += time_ns;
  }
  return sum;
}

std::vector<double> PeakWeights(const RunState& state, const Analysis& analysis) {
  std::vector<double> weights(state.devices.size(), 0);
  bool all_known = true;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!state.devices[i].used) continue;
    weights[i] = PeakOf(state, analysis, i).flops_per_second;
    all_known = all_known && weights[i] > 0;
  }
  if (all_known) return weights;
  for (uint32_t i = 0; i < state.devices.size(); ++i) weights[i] = state.devices[i].used ? 1 : 0;
  return weights;
}

std::string DescribeTypes(const ReferencePeak& peak) {
  double whole_ns = 0;
  for (const auto& [type, time_ns] : peak.time_ns_by_type) whole_ns += time_ns;
  std::string text;
  for (const auto& [type, time_ns] : peak.time_ns_by_type) {
    if (!text.empty()) text += ", ";
    text += type;
    if (peak.time_ns_by_type.size() > 1) text += " " + PercentText(time_ns / whole_ns);
  }
  return text;
}

}  // namespace utlz
