#include "collector/summary/family_summary.h"

#include <algorithm>
#include <array>
#include <vector>

#include "collector/kernel_names/kernel_family.h"
#include "collector/summary/steady_state_summary.h"

namespace utlz {
namespace {

// Sums over the steady part; rates are of kernels whose FLOPs and bytes are known.
struct FamilySum {
  double time_ns = 0;
  double launches = 0;
  double flops = 0;
  double flops_time_ns = 0;
  double bytes = 0;
  double bytes_time_ns = 0;
  double memory_time_ns = 0;
  double savings_ns = 0;
  double without_counters_ns = 0;
};

void AddRow(const KernelRow& row, FamilySum* sum) {
  const double share = row.steady_share;
  sum->time_ns += share * row.time_ns;
  sum->launches += share * row.launches;
  if (!row.work.flops.empty()) {
    // What other pipes executed is known as a most only.
    for (const TypedFlops& flops : row.work.flops) {
      if (!flops.by_pipe) sum->flops += share * row.launches * flops.flops;
    }
    sum->flops_time_ns += share * row.time_ns;
  }
  if (row.withheld.empty() && row.work.read_bytes.has_value() &&
      row.work.write_bytes.has_value()) {
    const double bytes = row.work.read_bytes->value + row.work.write_bytes->value;
    sum->bytes += share * row.launches * bytes;
    sum->bytes_time_ns += share * row.time_ns;
    sum->memory_time_ns += share * row.roofline.memory_time_ns.value_or(0);
  }
  if (row.roofline.communication) return;
  const auto roof_ns = RooflineTimeNs(row.roofline);
  if (roof_ns.has_value()) {
    sum->savings_ns += share * std::max(0.0, row.time_ns - *roof_ns);
  } else {
    sum->without_counters_ns += share * row.time_ns;
  }
}

// `steps`: of all devices, whose mean a step's figures are.
FamilySummary Describe(KernelFamily family, const FamilySum& sum, double all_ns, double steps) {
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
  const bool known = sum.without_counters_ns < sum.time_ns;
  if (known) summary.set_estimated_savings_ns(sum.savings_ns);
  summary.set_time_without_counters_ns(sum.without_counters_ns);
  if (steps <= 0) return summary;
  summary.set_time_per_step_ns(sum.time_ns / steps);
  summary.set_launches_per_step(sum.launches / steps);
  if (known) summary.set_estimated_savings_per_step_ns(sum.savings_ns / steps);
  return summary;
}

// Several devices work on one step at once.
int DevicesInSteps(const Summary& summary) {
  const auto worked = [](const DeviceSummary& device) { return device.steady_state_ns() > 0; };
  const auto devices = std::count_if(summary.devices().begin(), summary.devices().end(), worked);
  return std::max(1, static_cast<int>(devices));
}

// How many steps the rows' times are of. Rows are scaled to the run, with what was not traced of
// it; steps are of one device, whose kernel time in one of them is known.
double StepsInRows(const RunState& state, const Analysis& analysis, const Summary& summary) {
  if (MeanStepNs(summary) <= 0 || summary.steps().kernel_time_ns() <= 0) return 0;
  const uint32_t device = analysis.steady.steps->device;
  const StretchContent& content = analysis.devices[device].part.content;
  double rows_ns = 0;
  for (const KernelRow& row : analysis.rows) {
    if (state.kernels[row.kernel].device == device) rows_ns += row.steady_share * row.time_ns;
  }
  double window_ns = 0;
  for (const DeviceSummary& one : summary.devices()) {
    window_ns = std::max(window_ns, static_cast<double>(one.steady_state_ns()));
  }
  const double traced_steps = window_ns / MeanStepNs(summary);
  return content.KernelNs() > 0 ? traced_steps * rows_ns / content.KernelNs() : 0;
}

}  // namespace

void SummarizeFamilies(const RunState& state, const Analysis& analysis, Summary* summary) {
  std::array<FamilySum, kKernelFamilies> sums;
  double all_ns = 0;
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = state.kernels[row.kernel];
    const KernelFamily family =
        kernel.communication ? KernelFamily::kCommunication : FamilyOf(kernel.mangled_name);
    AddRow(row, &sums[static_cast<size_t>(family)]);
    all_ns += row.steady_share * row.time_ns;
  }
  if (all_ns <= 0) return;
  const double steps = StepsInRows(state, analysis, *summary) * DevicesInSteps(*summary);
  std::vector<FamilySummary> families;
  for (int i = 0; i < kKernelFamilies; ++i) {
    if (sums[static_cast<size_t>(i)].time_ns <= 0) continue;
    families.push_back(Describe(static_cast<KernelFamily>(i), sums[static_cast<size_t>(i)], all_ns,
                                steps));
  }
  std::stable_sort(families.begin(), families.end(),
                   [](const auto& a, const auto& b) { return a.time_ns() > b.time_ns(); });
  for (FamilySummary& family : families) *summary->add_families() = std::move(family);
}

}  // namespace utlz
