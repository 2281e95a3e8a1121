#include "collector/summary/family_summary.h"

#include <algorithm>
#include <array>
#include <vector>

#include "collector/kernel_names/kernel_family.h"
#include "collector/summary/steady_state_summary.h"

namespace utlz {
namespace {

// What a device's rows are of. They are scaled to the run, with what was not
// traced of it.
struct Scale {
  double steps = 0;  // how many; 0 where there are none
  // Of the time of communication kernels: that in which no other kernel ran.
  // Another one has the rest, so that the families add up to the time in which
  // some kernel ran.
  double exposed_share = 1;
};

// Sums over the steady part; rates are of kernels whose FLOPs and bytes are
// known.
struct FamilySum {
  double time_ns = 0;
  double step_time_ns = 0;  // in one step of each device, as are the next two
  double step_launches = 0;
  double step_savings_ns = 0;
  double flops = 0;
  double flops_time_ns = 0;
  double bytes = 0;
  double bytes_time_ns = 0;
  double memory_time_ns = 0;
  double savings_ns = 0;
  double without_counters_ns = 0;
  bool has_roof = false;  // that of some kernel is known; communication has none
};

void AddRow(const KernelRow& row, const Scale& scale, FamilySum* sum) {
  const double share = row.steady_share;
  const double a_step = scale.steps > 0 ? share / scale.steps : 0;
  const double time_ns = (row.roofline.communication ? scale.exposed_share : 1) * row.time_ns;
  sum->time_ns += share * time_ns;
  sum->step_time_ns += a_step * time_ns;
  sum->step_launches += a_step * row.launches;
  if (!row.work.flops.empty()) {
    // What other pipes executed is known as a most only.
    for (const TypedFlops& flops : row.work.flops) {
      if (!flops.by_pipe) sum->flops += share * row.launches * flops.flops;
    }
    sum->flops_time_ns += share * row.time_ns;
  }
  if (row.withheld.empty() && row.work.read_bytes.has_value() && row.work.write_bytes.has_value()) {
    const double bytes = row.work.read_bytes->value + row.work.write_bytes->value;
    sum->bytes += share * row.launches * bytes;
    sum->bytes_time_ns += share * row.time_ns;
    sum->memory_time_ns += share * row.roofline.memory_time_ns.value_or(0);
  }
  if (row.roofline.communication) return;
  const auto roof_ns = RooflineTimeNs(row.roofline);
  if (roof_ns.has_value()) {
    sum->has_roof = sum->has_roof || share > 0;
    sum->savings_ns += share * std::max(0.0, row.time_ns - *roof_ns);
    sum->step_savings_ns += a_step * std::max(0.0, row.time_ns - *roof_ns);
  } else {
    sum->without_counters_ns += share * row.time_ns;
  }
}

// A step's figures are the mean of `devices`; 0 where there are no steps.
FamilySummary Describe(KernelFamily family, const FamilySum& sum, double all_ns, int devices) {
  FamilySummary summary;
  summary.set_family(NameOf(family));
  summary.set_time_ns(sum.time_ns);
  summary.set_time_share(sum.time_ns / all_ns);
  if (sum.flops > 0) summary.set_flops_per_second(sum.flops / sum.flops_time_ns * 1e9);
  if (sum.bytes_time_ns > 0) {
    summary.set_dram_bytes_per_second(sum.bytes / sum.bytes_time_ns * 1e9);
    if (sum.memory_time_ns > 0) {
      summary.set_dram_peak_share(std::min(1.0, sum.memory_time_ns / sum.bytes_time_ns));
    }
  }
  if (sum.has_roof) summary.set_estimated_savings_ns(sum.savings_ns);
  summary.set_time_without_counters_ns(sum.without_counters_ns);
  if (devices <= 0) return summary;
  summary.set_time_per_step_ns(sum.step_time_ns / devices);
  summary.set_launches_per_step(sum.step_launches / devices);
  if (sum.has_roof) summary.set_estimated_savings_per_step_ns(sum.step_savings_ns / devices);
  return summary;
}

// Several devices work on one step at once. 0 where there are no steps.
int DevicesInSteps(const Summary& summary) {
  if (MeanStepNs(summary) <= 0) return 0;
  const auto worked = [](const DeviceSummary& device) { return device.steady_state_ns() > 0; };
  const auto devices = std::count_if(summary.devices().begin(), summary.devices().end(), worked);
  return std::max(1, static_cast<int>(devices));
}

// By the time in which kernels ran in the device's part of the steps
// (DevicePart), of which both the length and the number of steps are known.
// Kernels that compute are compared with kernels that compute: their rows share
// the time in which several ran (SharedTime), and those of communication do
// not.
Scale ScaleOf(const RunState& state, const Analysis& analysis, uint32_t device, double step_ns) {
  double computing_ns = 0;
  double communicating_ns = 0;
  for (const KernelRow& row : analysis.rows) {
    if (state.kernels[row.kernel].device != device) continue;
    (row.roofline.communication ? communicating_ns : computing_ns) +=
        row.steady_share * row.time_ns;
  }
  const DevicePart& part = analysis.devices[device].part;
  const double exposed_ns = part.content.TimeNs(TimeCategory::kCommunication);
  // The part ÷ the rows.
  const double of_rows = computing_ns > 0
                             ? part.content.TimeNs(TimeCategory::kCompute) / computing_ns
                             : (communicating_ns > 0 ? exposed_ns / communicating_ns : 0);
  if (of_rows <= 0) return {};
  Scale scale;
  if (step_ns > 0) scale.steps = part.TimeNs() / step_ns / of_rows;
  if (communicating_ns > 0) scale.exposed_share = exposed_ns / of_rows / communicating_ns;
  return scale;
}

}  // namespace

void SummarizeFamilies(const RunState& state, const Analysis& analysis, Summary* summary) {
  std::vector<Scale> scales;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    scales.push_back(ScaleOf(state, analysis, i, MeanStepNs(*summary)));
  }
  std::array<FamilySum, kKernelFamilies> sums;
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = state.kernels[row.kernel];
    const KernelFamily family =
        kernel.communication ? KernelFamily::kCommunication : FamilyOf(kernel.mangled_name);
    AddRow(row, scales[kernel.device], &sums[static_cast<size_t>(family)]);
  }
  double all_ns = 0;
  for (const FamilySum& sum : sums) all_ns += sum.time_ns;
  if (all_ns <= 0) return;
  const int devices = DevicesInSteps(*summary);
  std::vector<FamilySummary> families;
  for (int i = 0; i < kKernelFamilies; ++i) {
    if (sums[static_cast<size_t>(i)].time_ns <= 0) continue;
    families.push_back(
        Describe(static_cast<KernelFamily>(i), sums[static_cast<size_t>(i)], all_ns, devices));
  }
  std::stable_sort(families.begin(), families.end(),
                   [](const auto& a, const auto& b) { return a.time_ns() > b.time_ns(); });
  for (FamilySummary& family : families) *summary->add_families() = std::move(family);
}

}  // namespace utlz
