#include "collector/diagnosis/finding_facts.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "collector/analysis/agent_cost.h"
#include "collector/kernel_names/kernel_class.h"
#include "collector/summary/window_summary.h"

namespace utlz {
namespace {

// A process that is the last this often is not so by chance.
constexpr double kLaggingShare = 0.6;
constexpr uint64_t kFewestCollectives = 10;

void AddGaps(const StretchContent& content, TimeCategory category, GapTotal* sum) {
  sum->gaps += content.Gaps(category);
  sum->time_ns += content.TimeNs(category);
}

void AddDevice(const StretchContent& content, FindingFacts* facts) {
  AddGaps(content, TimeCategory::kLaunchGap, &facts->launch_gaps);
  AddGaps(content, TimeCategory::kReadbackGap, &facts->readback_gaps);
  AddGaps(content, TimeCategory::kUploadGap, &facts->upload_gaps);
  AddGaps(content, TimeCategory::kOtherGap, &facts->other_gaps);
  facts->pageable_exposed_ns += content.TimeNs(TimeCategory::kPageableCopy);
  facts->pinned_exposed_ns += content.TimeNs(TimeCategory::kPinnedCopy);
  facts->communication_exposed_ns += content.TimeNs(TimeCategory::kCommunication);
}

// Rows tell times that are scaled to the run and overlap each other; this is what a nanosecond of
// them in the steady part comes to in its time with kernels. By device.
std::vector<double> SharesOfSteadyPart(const ModelState& model, const Analysis& analysis) {
  std::vector<double> sum_ns(analysis.devices.size(), 0);
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = model.kernels[row.kernel];
    if (!kernel.communication) sum_ns[kernel.device] += row.steady_share * row.time_ns;
  }
  std::vector<double> shares(sum_ns.size(), 0);
  for (size_t i = 0; i < shares.size(); ++i) {
    const double compute_ns = analysis.devices[i].part.content.TimeNs(TimeCategory::kCompute);
    if (sum_ns[i] > 0) shares[i] = compute_ns / sum_ns[i];
  }
  return shares;
}

KernelRow Scaled(const KernelRow& row, double share) {
  KernelRow scaled = row;
  const auto scale = [share](std::optional<double>* time_ns) {
    if (time_ns->has_value()) **time_ns *= share;
  };
  scaled.time_ns *= share;
  scaled.roofline.time_ns *= share;
  scale(&scaled.roofline.compute_time_ns);
  scale(&scaled.roofline.memory_time_ns);
  scaled.roofline.other_compute_time_ns *= share;
  return scaled;
}

// A matrix kernel without tensor work: its name says so, or its FP32 pipes are what holds it up.
bool IsSinglePrecision(const Kernel& kernel, const KernelRow& row) {
  if (!IsMatrixKernel(kernel.mangled_name)) return false;
  const bool single_only =
      std::all_of(row.work.flops.begin(), row.work.flops.end(),
                  [](const TypedFlops& flops) { return flops.data_type == "fp32"; });
  if (!single_only) return false;
  return IsSinglePrecisionMatrixKernel(kernel.mangled_name) ||
         BoundOf(row.roofline) == BOUND_COMPUTE;
}

// At TF32's rate, as far as memory lets it.
void AddSinglePrecision(const KernelRow& row, const Ceilings& ceilings, FindingFacts* facts) {
  const auto single = ceilings.FlopsPerCycle("fp32");
  const auto tensor = ceilings.FlopsPerCycle("tf32");
  if (!single.has_value() || !tensor.has_value()) return;
  const double faster_ns =
      std::max(row.time_ns * *single / *tensor, row.roofline.memory_time_ns.value_or(0));
  facts->single_precision_ns += row.time_ns;
  facts->single_precision_gain_ns += std::max(0.0, row.time_ns - faster_ns);
}

uint32_t MultiprocessorsOf(const DeviceState& device) {
  return device.info.multiprocessors() > 0 ? device.info.multiprocessors()
                                           : device.peaks.value_or(DevicePeaks()).multiprocessors();
}

// Launches that cannot fill the GPU, whatever they do: what a full one would save, at most.
bool AddSmallGrid(const Kernel& kernel, const KernelRow& row, uint32_t multiprocessors,
                  FindingFacts* facts) {
  double blocks = 1;
  for (const uint32_t size : kernel.shape.grid) blocks *= size;
  // The entry for all kernels that did not fit has no grid.
  if (blocks < 1 || blocks >= multiprocessors) return false;
  const double full_ns = row.time_ns * blocks / multiprocessors;
  facts->small_grid_ns += row.time_ns;
  facts->small_grid_gain_ns +=
      std::max(0.0, row.time_ns - std::max(full_ns, RooflineTimeNs(row.roofline).value_or(0)));
  return true;
}

void AddRow(const Kernel& kernel, const KernelRow& row, const Ceilings& ceilings,
            uint32_t multiprocessors, FindingFacts* facts) {
  if (kernel.communication) return;
  const Bound bound = BoundOf(row.roofline);
  const bool moves_bytes =
      row.roofline.memory_time_ns.value_or(0) > row.roofline.compute_time_ns.value_or(0);
  if (moves_bytes && bound != BOUND_LATENCY && IsElementwiseKernel(kernel.mangled_name)) {
    facts->elementwise_memory_ns += row.time_ns;
  }
  if (bound == BOUND_MEMORY && IsMatrixKernel(kernel.mangled_name)) {
    facts->matrix_memory_ns += row.time_ns;
  }
  if (IsSinglePrecision(kernel, row)) AddSinglePrecision(row, ceilings, facts);
  const bool near_a_roof = bound == BOUND_MEMORY || bound == BOUND_COMPUTE;
  const bool small = !near_a_roof && AddSmallGrid(kernel, row, multiprocessors, facts);
  if (bound != BOUND_LATENCY || small) return;
  facts->latency_ns += row.time_ns;
  facts->latency_recoverable_ns +=
      std::max(0.0, row.time_ns - RooflineTimeNs(row.roofline).value_or(row.time_ns));
}

// The process that the others wait for, if it is nearly always the same.
void AddLagging(const ModelState& model, FindingFacts* facts) {
  for (const auto& [source, late] : model.arrivals.Summarize()) {
    if (late.matched < kFewestCollectives || late.last_share < kLaggingShare) continue;
    const auto found = model.processes.processes().find(source);
    if (found == model.processes.processes().end()) continue;
    const Process& info = found->second->info;
    facts->lagging_process = info.has_rank() ? "rank " + std::to_string(info.rank())
                                             : "process " + std::to_string(info.pid());
    facts->lagging_last_share = late.last_share;
    facts->lagging_delay_ns = late.delay_ns / (late.last_share * static_cast<double>(late.matched));
    // Every other device waits as long.
    facts->lagging_lost_ns = late.delay_ns * static_cast<double>(facts->summary->devices_size());
  }
}

void AddThrottling(const DeviceSummary& device, FindingFacts* facts) {
  const bool heat = std::any_of(
      device.clock_limits().begin(), device.clock_limits().end(),
      [](const std::string& limit) { return limit.find("thermal") != std::string::npos; });
  if (!heat || device.sm_clock_maximum_hz() <= 0) return;
  const double clock_share = std::min(1.0, device.sm_clock_hz() / device.sm_clock_maximum_hz());
  facts->throttled_ns += static_cast<double>(device.kernel_time_ns()) * (1 - clock_share);
}

// Nothing where it was measured: then gaps are already without it.
void AddTracing(const ModelState& model, const Analysis& analysis, FindingFacts* facts) {
  double kernel_share = 0;
  for (const DeviceAnalysis& device : analysis.devices) {
    if (device.part.slowdown_ns > 0) return;
    kernel_share = std::max(kernel_share, device.part.kernel_share);
  }
  facts->traced_launch_ns = TracedLaunchCostNs(model);
  facts->traced_graphs_ns = kernel_share * TracedGraphsCostNs(model);
}

// The first of the kernels, which are in order of what could be recovered.
void AddTopKernel(const Analysis& analysis, const ModelState& model, const Summary& summary,
                  const std::vector<double>& shares, FindingFacts* facts) {
  if (summary.kernels_size() == 0 || !summary.kernels(0).has_recoverable_time_ns()) return;
  const KernelSummary& top = summary.kernels(0);
  if (top.id() == 0 || top.id() > analysis.rows.size()) return;
  const Kernel& kernel = model.kernels[analysis.rows[top.id() - 1].kernel];
  facts->top_kernel = top.short_name();
  facts->top_kernel_recoverable_ns = top.recoverable_time_ns() * shares[kernel.device];
  facts->top_kernel_efficiency = top.roofline_efficiency();
  const KernelRow& row = analysis.rows[top.id() - 1];
  const Bound bound = BoundOf(row.roofline);
  FindingFacts own;
  facts->top_kernel_in_small_grid =
      bound != BOUND_MEMORY && bound != BOUND_COMPUTE &&
      AddSmallGrid(kernel, row, MultiprocessorsOf(model.devices[kernel.device]), &own);
  facts->top_kernel_in_latency = bound == BOUND_LATENCY && !facts->top_kernel_in_small_grid;
}

}  // namespace

FindingFacts GatherFacts(const ModelState& model, const Analysis& analysis,
                         const Summary& summary) {
  FindingFacts facts;
  facts.summary = &summary;
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    if (model.devices[i].used) AddDevice(analysis.devices[i].part.content, &facts);
  }
  const std::vector<double> shares = SharesOfSteadyPart(model, analysis);
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = model.kernels[row.kernel];
    const DeviceState& device = model.devices[kernel.device];
    AddRow(kernel, Scaled(row, row.steady_share * shares[kernel.device]),
           analysis.devices[kernel.device].ceilings, MultiprocessorsOf(device), &facts);
  }
  AddLagging(model, &facts);
  for (const DeviceSummary& device : summary.devices()) {
    const auto window_ns = static_cast<double>(device.window_ns());
    facts.window_ns += window_ns;
    facts.busy_share += device.gpu_busy_share() * window_ns;
    facts.sm_active_share += device.sm_active_share() * window_ns;
    facts.counters = facts.counters || (device.source() >= SOURCE_SAMPLED && device.has_hfu());
    AddThrottling(device, &facts);
  }
  facts.step_ns = MeanStepNs(summary);
  AddTracing(model, analysis, &facts);
  if (facts.window_ns > 0) {
    facts.busy_share /= facts.window_ns;
    facts.sm_active_share /= facts.window_ns;
  }
  AddTopKernel(analysis, model, summary, shares, &facts);
  return facts;
}

}  // namespace utlz
