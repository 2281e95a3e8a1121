#include "collector/summary/kernel_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "collector/gpu_uuid.h"
#include "collector/kernel_names/kernel_name.h"
#include "collector/normal_interval.h"
#include "collector/summary/device_summary.h"
#include "proto/valid_string.h"

namespace utlz {
namespace {

// Names are cut at a number of bytes, maybe within a character.
// Kernels named beside one that the samples cannot tell from them.
constexpr size_t kMostMergedWith = 640;

double Square(double value) { return value * value; }

std::string ShapeSuffix(const VariantShape& shape) {
  return " [" + std::to_string(shape.grid[0]) + "," + std::to_string(shape.grid[1]) + "," +
         std::to_string(shape.grid[2]) + "]";
}

std::string NameOf(const Kernel& kernel) {
  if (kernel.other) return "(other kernels)";
  if (kernel.mangled_name.empty()) return "(unknown kernel)";
  return ShortenKernelName(DemangleKernelName(kernel.mangled_name));
}

// Short names, with the grid where a function has several, the GPU where it ran on several, and a
// number where that is not enough.
std::vector<std::string> ShortNames(const RunState& state, const Analysis& analysis,
                                    const Summary& summary) {
  std::vector<std::string> names;
  std::map<std::string, std::set<std::string>> shapes;
  std::map<std::string, std::set<uint32_t>> kernels;
  std::map<std::string, std::set<uint32_t>> devices;
  const auto shape_of = [&](size_t i) {
    return ShapeSuffix(state.kernels[analysis.rows[i].kernel].shape);
  };
  const auto device_of = [&](size_t i) { return state.kernels[analysis.rows[i].kernel].device; };
  for (size_t i = 0; i < analysis.rows.size(); ++i) {
    names.push_back(NameOf(state.kernels[analysis.rows[i].kernel]));
    devices[names[i]].insert(device_of(i));
    shapes[names[i]].insert(shape_of(i));
    kernels[names[i]].insert(analysis.rows[i].kernel);
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const KernelPart& part = analysis.rows[i].part;
    const std::string function = names[i];
    // Also where kernels of one grid differ in something else, such as their blocks.
    const bool several = kernels[function].size() > devices[function].size();
    if (several || shapes[function].size() > 1) names[i] += shape_of(i);
    if (part.parts > 1) names[i] += " kind " + std::to_string(part.part + 1);
    if (devices[function].size() <= 1) continue;
    const auto number = IndexInSummary(state, device_of(i), summary);
    if (number.has_value()) names[i] += ", GPU " + std::to_string(*number);
  }
  MakeUnique(&names);
  return names;
}

// Of a kernel's time, its own: what a next kernel's first blocks overlap is not worth a word.
constexpr double kRanAlone = 0.99;

void SetShape(const Kernel& kernel, KernelSummary* summary) {
  for (int axis = 0; axis < 3; ++axis) {
    summary->add_grid(kernel.shape.grid[axis]);
    summary->add_block(kernel.shape.block[axis]);
    if (kernel.shape.cluster[0] != 0) summary->add_cluster(kernel.shape.cluster[axis]);
  }
  summary->set_registers_per_thread(kernel.shape.registers_per_thread);
  summary->set_shared_bytes(kernel.shape.shared_bytes);
}

void SetTimes(const Kernel& kernel, const KernelRow& row, KernelSummary* summary) {
  uint64_t untimed = 0;
  for (const KernelShare& share : kernel.shares) untimed += share.untimed;
  summary->set_launches(static_cast<uint64_t>(std::llround(row.launches)));
  summary->set_launches_traced(row.durations.count());
  if (untimed > 0) summary->set_launches_untimed(untimed);
  if (row.durations.count() == 0) return;
  summary->set_time_ns(row.time_ns);
  if (row.own_share < kRanAlone) summary->set_own_time_share(row.own_share);
  const auto count = static_cast<double>(row.durations.count());
  if (row.launches > count) {
    // What was not timed is known from the mean of what was, and from how often it ran beside it.
    const double of_mean_ns =
        (row.launches - count) * row.durations.standard_deviation_ns() / std::sqrt(count);
    summary->set_time_error_ns(std::hypot(of_mean_ns, row.gap_error_ns));
  }
  summary->set_time_mean_ns(row.durations.mean_ns());
  summary->set_time_p50_ns(row.durations.QuantileNs(0.5));
  summary->set_time_p99_ns(row.durations.QuantileNs(0.99));
  summary->set_time_minimum_ns(static_cast<double>(row.durations.minimum_ns()));
  summary->set_time_maximum_ns(static_cast<double>(row.durations.maximum_ns()));
}

void SetFlops(const KernelRow& row, const Ceilings& ceilings, KernelSummary* summary) {
  if (row.work.flops.empty() || row.flops_uncertain) return;
  double flops = 0;
  double variance = 0;
  double assumed_variance = 0;
  CounterSource source = SOURCE_RANGE;
  for (const TypedFlops& typed : row.work.flops) {
    DataTypeFlops* by_type = summary->add_flops_by_type();
    by_type->set_data_type(typed.data_type);
    by_type->set_flops(typed.flops * row.launches);
    by_type->set_flops_error(typed.error * row.launches);
    by_type->set_flops_error_assumed(typed.assumed_error * row.launches);
    by_type->set_source(typed.source);
    by_type->set_assumed(typed.assumed);
    flops += typed.flops * row.launches;
    variance += Square(typed.error * row.launches);
    assumed_variance += Square(typed.assumed_error * row.launches);
    source = std::min(source, typed.source);
  }
  summary->set_flops(flops);
  summary->set_flops_error(std::sqrt(variance));
  summary->set_flops_error_assumed(std::sqrt(assumed_variance));
  summary->set_flops_source(source);
  if (row.time_ns <= 0) return;
  summary->set_flops_per_second(flops / row.time_ns * 1e9);
  if (row.roofline.compute_time_ns.has_value()) {
    summary->set_flops_peak_share(*row.roofline.compute_time_ns / row.time_ns);
  }
}

void SetBytes(const KernelRow& row, const Ceilings& ceilings, KernelSummary* summary) {
  const auto& read = row.work.read_bytes;
  const auto& write = row.work.write_bytes;
  if (!read.has_value() || !write.has_value() || !row.withheld.empty()) return;
  const double bytes = (read->value + write->value) * row.launches;
  const double error = std::hypot(read->error, write->error) * row.launches;
  summary->set_dram_read_bytes(read->value * row.launches);
  summary->set_dram_write_bytes(write->value * row.launches);
  summary->set_dram_bytes(bytes);
  summary->set_dram_bytes_error(error);
  summary->set_dram_bytes_error_assumed(std::hypot(read->assumed, write->assumed) * row.launches);
  summary->set_bytes_source(SOURCE_SAMPLED);
  if (row.work.l2_bytes.has_value()) summary->set_l2_bytes(row.work.l2_bytes->value * row.launches);
  if (row.time_ns > 0) summary->set_dram_bytes_per_second(bytes / row.time_ns * 1e9);
  if (row.time_ns > 0 && row.roofline.memory_time_ns.has_value()) {
    summary->set_dram_peak_share(*row.roofline.memory_time_ns / row.time_ns);
  }
  if (summary->has_flops() && bytes > kNormal95 * error)
    summary->set_arithmetic_intensity(summary->flops() / bytes);
}

void SetActivity(const KernelRow& row, const Ceilings& ceilings, KernelSummary* summary) {
  const double cycles = row.durations.mean_ns() * 1e-9 * ceilings.clock_hz;
  if (cycles <= 0) return;
  if (row.work.sm_active_cycles.has_value()) {
    summary->set_sm_active_share(std::min(1.0, row.work.sm_active_cycles->value / cycles));
  }
  if (row.work.tensor_active_cycles.has_value()) {
    summary->set_tensor_active_share(std::min(1.0, row.work.tensor_active_cycles->value / cycles));
  }
}

// A roofline time above the time itself is measurement error: nothing can be saved then.
void SetRoofline(const KernelRow& row, const Ceilings& ceilings, KernelSummary* summary) {
  summary->set_bound(BoundOf(row.roofline));
  const std::optional<double> roofline_ns = RooflineTimeNs(row.roofline);
  if (row.roofline.communication || !roofline_ns.has_value() || row.time_ns <= 0) return;
  summary->set_roofline_time_ns(*roofline_ns);
  if (const auto attained_ns = RooflineTimeNs(row.attained)) {
    summary->set_attained_roofline_time_ns(*attained_ns);
  }
  summary->set_roofline_efficiency(std::min(1.0, *roofline_ns / row.time_ns));
  summary->set_estimated_savings_ns(std::max(0.0, row.time_ns - *roofline_ns));
  double error = 0;
  double assumed = 0;
  const bool memory =
      row.roofline.memory_time_ns.value_or(0) >= row.roofline.compute_time_ns.value_or(0);
  if (memory) {
    const double ns_per_byte = 1e9 / ceilings.dram_bytes_per_second;
    error = summary->dram_bytes_error() * ns_per_byte;
    assumed = summary->dram_bytes_error_assumed() * ns_per_byte;
  } else if (summary->flops() > 0) {
    const double ns_per_flop = *row.roofline.compute_time_ns / summary->flops();
    error = summary->flops_error() * ns_per_flop;
    assumed = summary->flops_error_assumed() * ns_per_flop;
  }
  summary->set_estimated_savings_error_ns(std::hypot(error, summary->time_error_ns()));
  summary->set_estimated_savings_error_assumed_ns(assumed);
}

KernelSummary SummarizeRow(const RunState& state, const Analysis& analysis, size_t index) {
  const KernelRow& row = analysis.rows[index];
  const Kernel& kernel = state.kernels[row.kernel];
  const Ceilings& ceilings = analysis.devices[kernel.device].ceilings;
  const bool counted = analysis.devices[kernel.device].sampled || !state.ranges.empty();
  KernelSummary summary;
  summary.set_id(KernelIdOf(index));
  summary.set_name(ValidText(DemangleKernelName(kernel.mangled_name)));
  summary.set_mangled_name(ValidText(kernel.mangled_name));
  SetShape(kernel, &summary);
  summary.set_graph(kernel.graph_nodes > 0);
  if (kernel.graph_nodes > 0) summary.set_graph_nodes(kernel.graph_nodes);
  if (row.part.parts > 1) summary.set_variant_label("#" + std::to_string(row.part.part + 1));
  const std::string uuid = FormatGpuUuid(state.devices[kernel.device].uuid);
  if (!uuid.empty()) summary.set_device_uuid(uuid);
  for (const KernelShare& share : kernel.shares) {
    const auto process = state.processes.processes().find(share.source);
    if (process != state.processes.processes().end()) summary.add_pids(process->second->info.pid());
  }
  summary.set_communication(kernel.communication);
  SetTimes(kernel, row, &summary);
  if (row.overlapped && counted) {
    summary.set_withheld_reason("kernels of another process ran on this GPU at the same time");
  }
  if (!row.withheld.empty()) summary.set_withheld_reason(row.withheld);
  SetFlops(row, ceilings, &summary);
  SetBytes(row, ceilings, &summary);
  SetActivity(row, ceilings, &summary);
  // Of each row it is said whether its bound is known.
  summary.set_bound(BOUND_UNKNOWN);
  if (!summary.has_withheld_reason()) SetRoofline(row, ceilings, &summary);
  return summary;
}

// Names the other members of each group that the samples cannot tell apart.
void SetMergedWith(const RunState& state, const Analysis& analysis,
                   const std::vector<std::string>& names, std::vector<KernelSummary>* kernels) {
  std::map<std::pair<uint32_t, size_t>, std::vector<size_t>> rows_by_group;
  for (size_t i = 0; i < analysis.rows.size(); ++i) {
    const KernelRow& row = analysis.rows[i];
    if (!row.part.group.has_value()) continue;
    rows_by_group[{state.kernels[row.kernel].device, *row.part.group}].push_back(i);
  }
  for (const auto& [group, rows] : rows_by_group) {
    for (const size_t row : rows) {
      for (const size_t other : std::span(rows).first(std::min(rows.size(), kMostMergedWith))) {
        if (other != row) (*kernels)[row].add_merged_with(names[other]);
      }
    }
  }
}

// Samples hold the work of every process on the GPU.
void SetOtherProcesses(const RunState& state, const Analysis& analysis,
                       std::vector<KernelSummary>* kernels) {
  for (size_t i = 0; i < analysis.rows.size(); ++i) {
    KernelSummary& kernel = (*kernels)[i];
    const uint32_t others =
        state.devices[state.kernels[analysis.rows[i].kernel].device].other_processes;
    if (others == 0 || (!kernel.has_dram_bytes() && !kernel.has_flops())) continue;
    kernel.add_merged_with(others == 1 ? "1 process not traced here"
                                       : std::to_string(others) + " processes not traced here");
  }
}

bool ComesFirst(const KernelSummary& a, const KernelSummary& b) {
  if (a.estimated_savings_ns() != b.estimated_savings_ns()) {
    return a.estimated_savings_ns() > b.estimated_savings_ns();
  }
  if (a.time_ns() != b.time_ns()) return a.time_ns() > b.time_ns();
  return a.id() < b.id();
}

}  // namespace

void SummarizeKernels(const RunState& state, const Analysis& analysis, Summary* summary) {
  const std::vector<std::string> names = ShortNames(state, analysis, *summary);
  std::vector<KernelSummary> kernels;
  double time_ns = 0;
  for (size_t i = 0; i < analysis.rows.size(); ++i) {
    kernels.push_back(SummarizeRow(state, analysis, i));
    kernels.back().set_short_name(ValidText(names[i]));
    kernels.back().set_steady_state_share(std::clamp(analysis.rows[i].steady_share, 0.0, 1.0));
    time_ns += analysis.rows[i].time_ns;
  }
  SetMergedWith(state, analysis, names, &kernels);
  SetOtherProcesses(state, analysis, &kernels);
  for (KernelSummary& kernel : kernels) {
    if (time_ns > 0 && kernel.has_time_ns()) kernel.set_time_share(kernel.time_ns() / time_ns);
  }
  std::sort(kernels.begin(), kernels.end(), ComesFirst);
  if (kernels.size() > state.options.maximum_kernels) kernels.resize(state.options.maximum_kernels);
  for (KernelSummary& kernel : kernels) *summary->add_kernels() = std::move(kernel);
}

}  // namespace utlz
