#include "collector/model/waterfall.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "collector/model/occupancy.h"

namespace utlz {
namespace {

struct SliceText {
  const char* name;
  const char* meaning;
};

// In the order in which the waterfall falls.
constexpr SliceText kSlices[] = {
    {kSliceOutside,
     "start-up, imports, compilation, shutdown: the GPU had nothing to do yet or any more"},
    {kSliceUntraced, "tracing paused to keep within the overhead budget"},
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
    case BOUND_MEMORY: return kSliceMemory;
    case BOUND_LATENCY: return kSliceLatency;
    case BOUND_COMPUTE: return kSliceCompute;
    case BOUND_NEITHER: return kSliceMixed;
    default: return kSliceUnknown;
  }
}

// Of a kernel's time, what its roof explains; all of it where no roof is known.
double RoofShare(const KernelRow& row) {
  const std::optional<double> roofline_ns = RooflineTimeNs(row.roofline);
  if (!roofline_ns.has_value() || row.time_ns <= 0) return 1;
  return std::min(1.0, *roofline_ns / row.time_ns);
}

// The time in which compute kernels ran, divided among them by their own times.
void AddKernels(const ModelState& model, const Analysis& analysis, uint32_t device, double time_ns,
                Slices* slices) {
  const Ceilings& ceilings = analysis.devices[device].ceilings;
  const Device& info = model.devices[device].info;
  const double clock_share = ceilings.clock_maximum_hz > 0
                                 ? std::min(1.0, ceilings.clock_hz / ceilings.clock_maximum_hz)
                                 : 1.0;
  double sum_ns = 0;
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = model.kernels[row.kernel];
    if (kernel.device == device && !kernel.communication) sum_ns += row.time_ns;
  }
  if (sum_ns <= 0) {
    (*slices)[kSliceUnknown] += time_ns;
    return;
  }
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = model.kernels[row.kernel];
    if (kernel.device != device || kernel.communication) continue;
    const double whole_ns = row.time_ns / sum_ns * time_ns;
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

void AddDevice(const ModelState& model, const Analysis& analysis, uint32_t index, double wall_ns,
               Slices* slices) {
  const DeviceState& device = model.devices[index];
  const ActivitySweep& sweep = device.sweep;
  const auto as_double = [](uint64_t time_ns) { return static_cast<double>(time_ns); };
  const double span_ns = as_double(sweep.last_ns() - sweep.first_ns());
  (*slices)[kSliceOutside] += std::max(0.0, wall_ns - span_ns);
  (*slices)[kSliceUntraced] += as_double(sweep.UntracedNs());
  const double idle_ns = as_double(sweep.IdleNs());
  const GapStatistics& gaps = device.gaps;
  const double known_ns = as_double(gaps.turnaround_gaps().time_ns + gaps.launch_gaps().time_ns +
                                    gaps.after_readback().time_ns +
                                    gaps.before_upload().time_ns);
  // Late records shorten idle time after its gaps were told apart.
  const double shrink = known_ns > idle_ns ? idle_ns / known_ns : 1;
  (*slices)[kSliceIdleTurnaround] += shrink * as_double(gaps.turnaround_gaps().time_ns);
  (*slices)[kSliceIdleLaunch] += shrink * as_double(gaps.launch_gaps().time_ns);
  (*slices)[kSliceIdleReadback] += shrink * as_double(gaps.after_readback().time_ns);
  (*slices)[kSliceIdleInput] += shrink * as_double(gaps.before_upload().time_ns);
  (*slices)[kSliceIdleOther] += idle_ns - shrink * known_ns;
  (*slices)[kSliceCopies] += as_double(sweep.TimeNs(kCopyMask, kKernelMask));
  const ActivityMask compute = MaskOf(ActivityKind::kCompute);
  (*slices)[kSliceCommunication] +=
      as_double(sweep.TimeNs(MaskOf(ActivityKind::kCommunication), compute));
  AddKernels(model, analysis, index, as_double(sweep.TimeNs(compute)), slices);
}

}  // namespace

void SummarizeWaterfall(const ModelState& model, const Analysis& analysis, Summary* summary) {
  double wall_ns = static_cast<double>(summary->run().wall_ns());
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    const ActivitySweep& sweep = model.devices[i].sweep;
    wall_ns = std::max(wall_ns, static_cast<double>(sweep.last_ns() - sweep.first_ns()));
  }
  Slices slices;
  double total_ns = 0;
  for (uint32_t i = 0; i < model.devices.size(); ++i) {
    if (!model.devices[i].used || model.devices[i].sweep.first_ns() == 0) continue;
    AddDevice(model, analysis, i, wall_ns, &slices);
    total_ns += wall_ns;
  }
  if (total_ns <= 0) return;
  WaterfallSummary* waterfall = summary->mutable_waterfall();
  waterfall->set_total_ns(total_ns);
  for (const SliceText& text : kSlices) {
    const auto found = slices.find(text.name);
    if (found == slices.end() || found->second <= 0) continue;
    WaterfallSlice* slice = waterfall->add_slices();
    slice->set_name(text.name);
    slice->set_time_ns(found->second);
    slice->set_share(found->second / total_ns);
    slice->set_meaning(text.meaning);
  }
}

}  // namespace utlz
