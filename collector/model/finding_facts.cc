#include "collector/model/finding_facts.h"

#include <algorithm>

#include "collector/model/kernel_class.h"

namespace utlz {
namespace {

// A process that is the last this often is not so by chance.
constexpr double kLaggingShare = 0.6;
constexpr uint64_t kFewestCollectives = 10;

void Add(const GapTotal& gaps, GapTotal* sum) {
  sum->gaps += gaps.gaps;
  sum->time_ns += gaps.time_ns;
}

void AddDevice(const DeviceState& device, FindingFacts* facts) {
  const ActivitySweep& sweep = device.sweep;
  const auto exposed_ns = [&](ActivityKind kind) {
    return static_cast<double>(sweep.TimeNs(MaskOf(kind), kKernelMask));
  };
  Add(device.gaps.launch_gaps(), &facts->launch_gaps);
  Add(device.gaps.after_readback(), &facts->readback_gaps);
  Add(device.gaps.before_upload(), &facts->upload_gaps);
  Add(device.gaps.medium_gaps(), &facts->other_gaps);
  Add(device.gaps.long_gaps(), &facts->other_gaps);
  facts->pageable_exposed_ns += exposed_ns(ActivityKind::kHostToDevicePageable) +
                                exposed_ns(ActivityKind::kDeviceToHostPageable);
  facts->pinned_exposed_ns +=
      exposed_ns(ActivityKind::kHostToDevice) + exposed_ns(ActivityKind::kDeviceToHost);
  facts->communication_exposed_ns += static_cast<double>(
      sweep.TimeNs(MaskOf(ActivityKind::kCommunication), MaskOf(ActivityKind::kCompute)));
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
  const double faster_ns = std::max(row.time_ns * std::min(1.0, *single / *tensor),
                                    row.roofline.memory_time_ns.value_or(0));
  facts->single_precision_ns += row.time_ns;
  facts->single_precision_gain_ns += std::max(0.0, row.time_ns - faster_ns);
}

// Launches that cannot fill the GPU, whatever they do: what a full one would save, at most.
bool AddSmallGrid(const Kernel& kernel, const KernelRow& row, uint32_t multiprocessors,
                  FindingFacts* facts) {
  double blocks = 1;
  for (const uint32_t size : kernel.shape.grid) blocks *= size;
  if (kernel.other || blocks < 1 || blocks >= multiprocessors) return false;
  const double full_ns = row.time_ns * blocks / multiprocessors;
  facts->small_grid_ns += row.time_ns;
  facts->small_grid_gain_ns +=
      std::max(0.0, row.time_ns - std::max(full_ns, RooflineTimeNs(row.roofline).value_or(0)));
  return true;
}

void AddRow(const Kernel& kernel, const KernelRow& row, const Ceilings& ceilings,
            uint32_t multiprocessors, FindingFacts* facts) {
  facts->launches += row.launches;
  if (kernel.communication) return;
  facts->kernel_ns += row.time_ns;
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

}  // namespace

FindingFacts GatherFacts(const ModelState& model, const Analysis& analysis, const Summary& summary) {
  FindingFacts facts;
  facts.summary = &summary;
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    if (model.devices[i].used) AddDevice(model.devices[i], &facts);
  }
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = model.kernels[row.kernel];
    const DeviceState& device = model.devices[kernel.device];
    const uint32_t multiprocessors = device.info.multiprocessors() > 0
                                         ? device.info.multiprocessors()
                                         : device.peaks.value_or(DevicePeaks()).multiprocessors();
    AddRow(kernel, row, analysis.devices[kernel.device].ceilings, multiprocessors, &facts);
  }
  AddLagging(model, &facts);
  for (const DeviceSummary& device : summary.devices()) {
    const auto window_ns = static_cast<double>(device.window_ns());
    facts.window_ns += window_ns;
    facts.busy_share += device.gpu_busy_share() * window_ns;
    facts.sm_active_share += device.sm_active_share() * window_ns;
    facts.counters = facts.counters || device.source() >= SOURCE_SAMPLED;
    AddThrottling(device, &facts);
  }
  const StepsSummary& steps = summary.steps();
  facts.idle_in_steps_ns = steps.idle_time_ns() * summary.devices_size() *
                           static_cast<double>(steps.steps() - steps.warmup_steps());
  if (facts.window_ns > 0) {
    facts.busy_share /= facts.window_ns;
    facts.sm_active_share /= facts.window_ns;
  }
  if (summary.kernels_size() > 0 && summary.kernels(0).has_recoverable_time_ns()) {
    facts.top_kernel = summary.kernels(0).short_name();
    facts.top_kernel_recoverable_ns = summary.kernels(0).recoverable_time_ns();
    facts.top_kernel_efficiency = summary.kernels(0).roofline_efficiency();
  }
  return facts;
}

}  // namespace utlz
