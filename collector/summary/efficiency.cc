#include "collector/summary/efficiency.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "collector/analysis/kind_of_program.h"
#include "collector/analysis/reference_peak.h"
#include "collector/gpu_uuid.h"
#include "collector/kernel_names/kernel_class.h"
#include "collector/kernel_names/tile_rows.h"
#include "collector/run/workload_spec.h"
#include "collector/steps/work_of_step.h"
#include "collector/summary/device_summary.h"
#include "collector/summary/flops_gap.h"
#include "collector/text/number_text.h"

namespace utlz {
namespace {

double Seconds(double time_ns) { return time_ns * 1e-9; }

// Of several GPUs, what they executed as a share of what all of them could have: one with a higher
// peak weighs more, as it does in MFU.
class ExecutedShare {
 public:
  void Add(const DeviceSummary& device, double weight) {
    if (!device.has_hfu()) return;
    weight *= static_cast<double>(device.steady_state_ns());
    possible_ += weight;
    executed_ += device.hfu() * weight;
    error_ = std::hypot(error_, device.hfu_error() * weight);
    assumed_error_ = std::hypot(assumed_error_, device.hfu_error_assumed() * weight);
    const bool clocks = device.sm_clock_hz() > 0 && device.sm_clock_maximum_hz() > 0;
    all_clocks_ = all_clocks_ && clocks;
    if (!clocks) return;
    possible_maximum_clock_ +=
        weight * std::max(1.0, device.sm_clock_maximum_hz() / device.sm_clock_hz());
  }

  void SetIn(EfficiencySummary* efficiency) const {
    if (possible_ <= 0) return;
    efficiency->set_hfu(executed_ / possible_);
    efficiency->set_hfu_error(error_ / possible_);
    efficiency->set_hfu_error_assumed(assumed_error_ / possible_);
    if (all_clocks_) efficiency->set_hfu_maximum_clock(executed_ / possible_maximum_clock_);
  }

 private:
  double executed_ = 0;
  double error_ = 0;
  double assumed_error_ = 0;
  double possible_ = 0;
  double possible_maximum_clock_ = 0;
  bool all_clocks_ = true;
};

void SetHfu(const RunState& state, const std::vector<double>& weights, const Summary& summary,
            EfficiencySummary* efficiency) {
  ExecutedShare share;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const auto listed = IndexInSummary(state, i, summary);
    if (listed.has_value()) share.Add(summary.devices(*listed), weights[i]);
  }
  share.SetIn(efficiency);
}

// HFU if every kernel ran at the roof of its GPU and nothing between them: under the peaks, and
// under what all of the GPUs were measured to attain.
void SetAttainable(const RunState& state, const Analysis& analysis,
                   const std::vector<double>& weights, EfficiencySummary* efficiency) {
  double compute_ns = 0;
  double roofline_ns = 0;
  double measured_roofline_ns = 0;
  bool all_measured = true;
  double known_ns = 0;
  double all_ns = 0;
  for (const KernelRow& row : analysis.rows) {
    if (row.roofline.communication) continue;
    // What ran before or after the steps says nothing of them.
    const double steady_share = row.steady_share;
    all_ns += steady_share * row.time_ns;
    const auto roof = RooflineTimeNs(row.roofline);
    if (!roof.has_value()) continue;
    known_ns += steady_share * row.time_ns;
    const uint32_t device = state.kernels[row.kernel].device;
    const double weight = steady_share * weights[device];
    const Ceilings& ceilings = analysis.devices[device].ceilings;
    double row_compute_ns = 0;
    for (const TypedFlops& flops : row.work.flops) {
      const auto peak = ceilings.FlopsPerSecond(flops.data_type);
      if (flops.by_pipe || !peak.has_value()) continue;
      row_compute_ns += row.launches * flops.flops / *peak * 1e9;
    }
    roofline_ns += weight * *roof;
    compute_ns += weight * row_compute_ns;
    const auto measured_roof = RooflineTimeNs(row.attained);
    all_measured = all_measured && measured_roof.has_value();
    measured_roofline_ns += weight * measured_roof.value_or(0);
  }
  // Where nothing that was done counts for HFU, no roof says what it could be; nor do the roofs of
  // a few kernels.
  constexpr double kEnoughKnown = 0.5;
  if (compute_ns <= 0 || known_ns < kEnoughKnown * all_ns) return;
  if (roofline_ns > 0) efficiency->set_attainable_hfu(compute_ns / roofline_ns);
  if (all_measured && measured_roofline_ns > 0) {
    efficiency->set_attainable_hfu_measured(compute_ns / measured_roofline_ns);
  }
}

// Of work that was given for what --steps counts, where no level here came about as often.
constexpr char kNoLevel[] =
    "no MFU and no throughput, since no level here came about as often as --steps says: without "
    "--steps, FLOPs, tokens and items are taken as those of the steps that were found";

// `given`: of a step that was found.
void SetMfu(const RunState& state, const Analysis& analysis, const Summary& summary,
            const std::optional<WorkloadSpec>& given, EfficiencySummary* efficiency) {
  const double step_seconds = Seconds(summary.steps().time_mean_ns());
  if (step_seconds > 0) efficiency->set_steps_per_second(1 / step_seconds);
  if (!given.has_value()) {
    if (GivesWork(state.work)) efficiency->set_mfu_note(kNoLevel);
    return;
  }
  const WorkloadSpec& work = *given;
  if (work.flops_per_token() > 0) efficiency->set_model_flops_per_token(work.flops_per_token());
  if (!work.note().empty()) efficiency->set_model_note(work.note());
  if (step_seconds <= 0) return;
  if (work.items_per_step() > 0) {
    efficiency->set_items_per_second(work.items_per_step() / step_seconds);
    efficiency->set_item_name(work.item_name().empty() ? "items" : work.item_name());
  }
  if (work.tokens_per_step() > 0) {
    efficiency->set_tokens_per_step(work.tokens_per_step());
    efficiency->set_tokens_per_second(work.tokens_per_step() / step_seconds);
  }
  const double model_flops = FlopsPerStep(work);
  if (model_flops <= 0) return;
  efficiency->set_model_flops_per_step(model_flops);
  const ReferencePeak peak = PeakOfRun(state, analysis);
  if (peak.flops_per_second <= 0) return;
  efficiency->set_peak_flops_per_second(peak.flops_per_second);
  const double mfu = model_flops / step_seconds / peak.flops_per_second;
  if (mfu > 1) {
    efficiency->set_mfu_note(
        "the FLOPs given are more than the GPU can do at all, so that the model, the batch size or "
        "the sequence length given are not this run's");
    return;
  }
  efficiency->set_mfu(mfu);
  if (peak.flops_per_second_maximum_clock > 0) {
    efficiency->set_mfu_maximum_clock(model_flops / step_seconds /
                                      peak.flops_per_second_maximum_clock);
  }
  efficiency->set_mfu_note(
      "model FLOPs of a step over the mean step without warm-up, as a share of " +
      PrefixedText(peak.flops_per_second, "FLOP/s") + ": dense, at the clock that was seen, " +
      DescribeTypes(peak) +
      (peak.time_ns_by_type.size() > 1 ? " by the time that each needs" : ""));
}

// Of a kernel's FLOPs, those of rows that only fill up its tiles, if these have few: all rows but
// the step's tokens, or but one, and so at most, where these are not known (0).
double FillingShare(const Kernel& kernel, double tokens) {
  const int rows = RowsOfTile(kernel.mangled_name);
  if (!IsNarrowTile(rows)) return 0;
  return std::max(0.0, 1 - std::max(1.0, tokens) / rows);
}

std::optional<uint32_t> IndexOf(const RunState& state, const std::string& uuid) {
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (FormatGpuUuid(state.devices[i].uuid) == uuid) return i;
  }
  return std::nullopt;
}

// By the kernel time of a step: what ran outside steps (start-up, evaluation) is left out. Steps
// are of one device; in one of them the others do as much of what they do in the window.
// `tokens` of a step, 0 = not known.
ExecutedFlops ExecutedPerStep(const RunState& state, const Analysis& analysis,
                              const Summary& summary, double tokens) {
  ExecutedFlops executed;
  // Where too few were counted for HFU, the FLOPs of a step are not known either.
  for (const DeviceSummary& device : summary.devices()) {
    if (!device.has_hfu()) return executed;
  }
  const auto of_steps = IndexOf(state, summary.steps().device_uuid());
  if (!of_steps.has_value() || !state.devices[*of_steps].used) return executed;
  const uint64_t kernel_ns = state.devices[*of_steps].sweep.TimeNs(kKernelMask);
  const double window_share = analysis.devices[*of_steps].part.kernel_share;
  if (kernel_ns == 0 || window_share <= 0) return executed;
  const double steps_in_window =
      window_share * static_cast<double>(kernel_ns) / summary.steps().kernel_time_ns();
  if (!(steps_in_window > 0) || !std::isfinite(steps_in_window)) return executed;
  double counted_ns = 0;
  double all_ns = 0;
  for (const KernelRow& row : analysis.rows) {
    const Kernel& kernel = state.kernels[row.kernel];
    const double share = row.traced_steady_share / steps_in_window;
    all_ns += share * row.time_ns;
    if (row.part.counters[METRIC_TENSOR_ACTIVE].has_value()) counted_ns += share * row.time_ns;
    const double filling_share = FillingShare(kernel, tokens);
    for (const TypedFlops& typed : row.work.flops) {
      if (typed.by_pipe) continue;
      const double flops = share * static_cast<double>(row.durations.count()) * typed.flops;
      executed.all += flops;
      if (IsAttentionKernel(kernel.mangled_name)) executed.attention += flops;
      executed.filling += filling_share * flops;
    }
  }
  // Kernels that no sample met are taken to work as the others, as in HFU.
  if (counted_ns > 0) {
    executed.all *= all_ns / counted_ns;
    executed.attention *= all_ns / counted_ns;
    executed.filling *= all_ns / counted_ns;
  }
  return executed;
}

// Passes that learn nothing compute nothing again. Where nobody says which they are, generation
// shows: by its calls, or by products of few rows that are most of the work.
bool MayRecompute(const RunState& state, const Analysis& analysis, const Summary& summary,
                  const ExecutedFlops& executed) {
  if (state.work.forward_flops_per_step() > 0) return !IsForwardOnly(state.work);
  if (Learns(state, analysis)) return true;
  return !GeneratesTokens(summary.steps()) && executed.filling < executed.all / 2;
}

}  // namespace

void SummarizeEfficiency(const RunState& state, const Analysis& analysis, Summary* summary) {
  EfficiencySummary efficiency;
  const std::vector<double> weights = PeakWeights(state, analysis);
  SetHfu(state, weights, *summary, &efficiency);
  SetAttainable(state, analysis, weights, &efficiency);
  const std::optional<WorkloadSpec> work = WorkOfStep(state.work, summary->steps());
  SetMfu(state, analysis, *summary, work, &efficiency);
  const double tokens = work.has_value() ? work->tokens_per_step() : 0;
  const ExecutedFlops executed = ExecutedPerStep(state, analysis, *summary, tokens);
  if (executed.all > 0) efficiency.set_executed_flops_per_step(executed.all);
  const bool impossible = efficiency.has_peak_flops_per_second() && !efficiency.has_mfu();
  if (executed.all > 0 && efficiency.has_model_flops_per_step() && !impossible) {
    const bool recomputes = MayRecompute(state, analysis, *summary, executed);
    SetFlopsGap(*work, executed, recomputes, &efficiency);
  }
  if (efficiency.ByteSizeLong() > 0) *summary->mutable_efficiency() = std::move(efficiency);
}

}  // namespace utlz
