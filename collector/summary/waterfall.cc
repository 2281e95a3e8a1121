#include "collector/summary/waterfall.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "collector/analysis/occupancy.h"
#include "collector/summary/steady_state_summary.h"
#include "collector/waterfall_slices.h"

namespace utlz {
namespace {

struct SliceText {
  const char* name;
  const char* meaning;
  bool in_window = true;  // part of the traced time of the steady part
};

// In the order in which the waterfall falls.
constexpr SliceText kSlices[] = {
    {kSliceOutside,
     "start-up, imports, compilation, shutdown: the GPU had nothing to do yet or any more", false},
    {kSliceStartUp, "imports, weights, compilation, and the steps that were slow at the beginning",
     false},
    {kSliceEnd, "evaluation, saving, shutdown: no step came any more", false},
    {kSlicePauses, "long stretches between steps in which the GPU was asked for nothing", false},
    {kSliceUntraced, "tracing paused to keep within the overhead budget, or had ended", false},
    {kSliceSlowdown,
     "in its windows tracing slows launches, and a GPU whose counters are set may wait: as "
     "measured",
     false},
    {kSliceIdleTurnaround,
     "gaps of up to 2 µs, which even a CUDA graph has between dependent kernels"},
    {kSliceIdleLaunch, "gaps of 2 to 100 µs between kernels: the host launches too slowly"},
    {kSliceIdleReadback, "gaps after a copy to the host: the program waits for a result"},
    {kSliceIdleInput, "gaps that end with a copy to the device: input came late"},
    {kSliceIdleOther, "longer gaps: input pipeline, host work, waiting for requests"},
    {kSliceCopies, "copies and memory sets with no kernel beside them"},
    {kSliceCommunication, "communication kernels with no other kernel beside them"},
    {kSliceMemory, "time of kernels at the DRAM roof that their FLOPs do not need"},
    {kSliceLatency, "time of kernels that use neither roof by a quarter"},
    {kSliceCompute, "time that compute-bound kernels take beyond what their FLOPs need"},
    {kSliceMixed, "time of kernels between the roofs"},
    {kSliceUnknown, "no counters, or too few samples"},
    {kSliceTail,
     "of kernels of several waves, multiprocessors that have no block left in the last one"},
    {kSliceOtherCompute, "what instructions of other pipes need at their peak, at most"},
    {kSliceClock, "FLOPs at peak took longer because the clock was below its maximum"},
    {kSliceUseful, "what the FLOPs need at peak and the highest clock"},
};

using Slices = std::map<std::string_view, double>;

const char* SliceOf(Bound bound) {
  switch (bound) {
    case BOUND_MEMORY:
      return kSliceMemory;
    case BOUND_LATENCY:
      return kSliceLatency;
    case BOUND_COMPUTE:
      return kSliceCompute;
    case BOUND_NEITHER:
      return kSliceMixed;
    default:
      return kSliceUnknown;
  }
}

// Of a kernel's time, what its roof explains; all of it where no roof is known.
double RoofShare(const KernelRow& row) {
  const std::optional<double> roofline_ns = RooflineTimeNs(row.roofline);
  if (!roofline_ns.has_value() || row.time_ns <= 0) return 1;
  return std::min(1.0, *roofline_ns / row.time_ns);
}

// The time in which compute kernels ran, divided among them by their own times in the steady part.
void AddKernels(const RunState& state, const Analysis& analysis, uint32_t device, double time_ns,
                Slices* slices) {
  const Ceilings& ceilings = analysis.devices[device].ceilings;
  const Device& info = state.devices[device].info;
  const double clock_share = ceilings.clock_maximum_hz > 0
                                 ? std::min(1.0, ceilings.clock_hz / ceilings.clock_maximum_hz)
                                 : 1.0;
  double sum_ns = 0;
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = state.kernels[row.kernel];
    if (kernel.device == device && !kernel.communication) sum_ns += row.steady_share * row.time_ns;
  }
  if (sum_ns <= 0) {
    (*slices)[kSliceUnknown] += time_ns;
    return;
  }
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = state.kernels[row.kernel];
    if (kernel.device != device || kernel.communication) continue;
    const double whole_ns = row.steady_share * row.time_ns / sum_ns * time_ns;
    const double compute_share =
        row.time_ns > 0 ? std::min(1.0, row.roofline.compute_time_ns.value_or(0) / row.time_ns) : 0;
    const double compute_ns = whole_ns * compute_share;
    const double other_share =
        compute_share > 0 ? row.roofline.other_compute_time_ns / *row.roofline.compute_time_ns : 0;
    const double tensor_ns = compute_ns * (1 - other_share);
    (*slices)[kSliceUseful] += tensor_ns * clock_share;
    (*slices)[kSliceClock] += tensor_ns * (1 - clock_share);
    (*slices)[kSliceOtherCompute] += compute_ns * other_share;
    // A tail hides behind whatever roof the whole kernel reaches all the same.
    const double below_roof_ns = whole_ns * (1 - RoofShare(row));
    const double tail_ns = std::min(whole_ns * TailShare(kernel.shape, info), below_roof_ns);
    (*slices)[kSliceTail] += tail_ns;
    (*slices)[SliceOf(BoundOf(row.roofline))] += whole_ns - compute_ns - tail_ns;
  }
}

// Of what was not traced after the last traced step, what may have been steps: where these were
// counted, what follows the last of them is the end, as in the phases.
double UntracedAfterNs(const Analysis& analysis, const DeviceState& device, const DevicePart& part,
                       const StepsSummary& steps) {
  if (!analysis.steady.steps.has_value() || !steps.has_after_traced()) {
    return part.untraced_after_ns;
  }
  return UntracedTimeOfLaterSteps(device.ledger, *analysis.steady.steps);
}

// What comes before and after the steady part, and stretches of it that were not steady.
void AddRest(const RunState& state, const Analysis& analysis, const DeviceState& device,
             const DevicePart& part, double untraced_after_ns, double wall_ns, Slices* slices) {
  const double untraced_ns = part.content.UntracedNs();
  (*slices)[kSliceUntraced] += untraced_ns + part.untraced_before_ns + untraced_after_ns;
  (*slices)[kSlicePauses] += part.pause_ns;
  const double ours_ns = part.slowdown_ns + part.stall_ns;
  (*slices)[kSliceSlowdown] += ours_ns;
  const double inside_ns = part.TimeNs() + untraced_ns + part.pause_ns + ours_ns;
  const double rest_ns =
      std::max(0.0, wall_ns - inside_ns - part.untraced_before_ns - untraced_after_ns);
  if (!analysis.steady.steps.has_value()) {
    (*slices)[kSliceOutside] += rest_ns;
    return;
  }
  const uint64_t origin_ns =
      state.run_start.has_value() ? state.run_start->time_ns() : device.sweep.first_ns();
  const double before_ns =
      static_cast<double>(std::max(origin_ns, analysis.steady.steps->start_ns) - origin_ns) -
      part.untraced_before_ns;
  const double start_up_ns = std::clamp(before_ns, 0.0, rest_ns);
  (*slices)[kSliceStartUp] += start_up_ns;
  (*slices)[kSliceEnd] += rest_ns - start_up_ns;
}

void AddDevice(const RunState& state, const Analysis& analysis, const StepsSummary& steps,
               uint32_t index, double wall_ns, Slices* slices) {
  const DevicePart& part = analysis.devices[index].part;
  const StretchContent& content = part.content;
  const DeviceState& device = state.devices[index];
  const double untraced_after_ns = UntracedAfterNs(analysis, device, part, steps);
  AddRest(state, analysis, device, part, untraced_after_ns, wall_ns, slices);
  (*slices)[kSliceIdleTurnaround] += content.TimeNs(TimeCategory::kTurnaroundGap);
  (*slices)[kSliceIdleLaunch] += content.TimeNs(TimeCategory::kLaunchGap);
  (*slices)[kSliceIdleReadback] += content.TimeNs(TimeCategory::kReadbackGap);
  (*slices)[kSliceIdleInput] += content.TimeNs(TimeCategory::kUploadGap);
  (*slices)[kSliceIdleOther] += content.TimeNs(TimeCategory::kOtherGap);
  (*slices)[kSliceCopies] += content.CopyNs();
  (*slices)[kSliceCommunication] += content.TimeNs(TimeCategory::kCommunication);
  AddKernels(state, analysis, index, content.TimeNs(TimeCategory::kCompute), slices);
}

}  // namespace

void SummarizeWaterfall(const RunState& state, const Analysis& analysis, Summary* summary) {
  double wall_ns = static_cast<double>(summary->run().wall_ns());
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const ConcurrencyTracker& sweep = state.devices[i].sweep;
    wall_ns = std::max(wall_ns, static_cast<double>(sweep.last_ns() - sweep.first_ns()));
  }
  Slices slices;
  double total_ns = 0;
  double window_ns = 0;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!state.devices[i].used || state.devices[i].sweep.first_ns() == 0) continue;
    AddDevice(state, analysis, summary->steps(), i, wall_ns, &slices);
    total_ns += wall_ns;
    window_ns += analysis.devices[i].part.TimeNs();
  }
  if (total_ns <= 0) return;
  WaterfallSummary* waterfall = summary->mutable_waterfall();
  waterfall->set_total_ns(total_ns);
  const double step_ns = MeanStepNs(*summary);
  for (const SliceText& text : kSlices) {
    const auto found = slices.find(text.name);
    if (found == slices.end() || found->second <= 0) continue;
    WaterfallSlice* slice = waterfall->add_slices();
    slice->set_name(text.name);
    slice->set_time_ns(found->second);
    slice->set_share(found->second / total_ns);
    slice->set_meaning(text.meaning);
    if (!text.in_window || window_ns <= 0) continue;
    slice->set_steady_state_share(found->second / window_ns);
    if (step_ns > 0) slice->set_time_per_step_ns(slice->steady_state_share() * step_ns);
  }
}

}  // namespace utlz
