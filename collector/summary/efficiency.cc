#include "collector/summary/efficiency.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "collector/analysis/reference_peak.h"
#include "collector/gpu_uuid.h"
#include "collector/kernel_names/kernel_class.h"
#include "collector/normal_interval.h"
#include "collector/run/workload_spec.h"
#include "collector/summary/device_summary.h"
#include "collector/text/number_text.h"

namespace utlz {
namespace {

// Executed and model FLOPs that differ by less agree: counters and steps are no better.
constexpr double kAgreeing = 0.02;

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

void SetMfu(const RunState& state, const Analysis& analysis, const Summary& summary,
            EfficiencySummary* efficiency) {
  const double step_seconds = Seconds(summary.steps().time_mean_ns());
  const WorkloadSpec& work = state.work;
  if (work.flops_per_token() > 0) efficiency->set_model_flops_per_token(work.flops_per_token());
  if (!work.note().empty()) efficiency->set_model_note(work.note());
  if (step_seconds <= 0) return;
  efficiency->set_steps_per_second(1 / step_seconds);
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

// FLOPs that were counted in a mean step.
struct Executed {
  double all = 0;
  double attention = 0;
};

std::optional<uint32_t> IndexOf(const RunState& state, const std::string& uuid) {
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (FormatGpuUuid(state.devices[i].uuid) == uuid) return i;
  }
  return std::nullopt;
}

// By the kernel time of a step: what ran outside steps (start-up, evaluation) is left out. Steps
// are of one device; in one of them the others do as much of what they do in the window.
Executed ExecutedPerStep(const RunState& state, const Analysis& analysis, const Summary& summary) {
  Executed executed;
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
    const double share = row.steady_share / steps_in_window;
    all_ns += share * row.time_ns;
    if (row.part.counters[METRIC_TENSOR_ACTIVE].has_value()) counted_ns += share * row.time_ns;
    for (const TypedFlops& typed : row.work.flops) {
      if (typed.by_pipe) continue;
      const double flops = share * static_cast<double>(row.durations.count()) * typed.flops;
      executed.all += flops;
      if (IsAttentionKernel(kernel.mangled_name)) executed.attention += flops;
    }
  }
  // Kernels that no sample met are taken to work as the others, as in HFU.
  if (counted_ns > 0) {
    executed.all *= all_ns / counted_ns;
    executed.attention *= all_ns / counted_ns;
  }
  return executed;
}

void AddGap(const char* name, double flops, double model_flops, std::string meaning,
            EfficiencySummary* efficiency) {
  if (flops == 0) return;
  FlopsGap* gap = efficiency->add_gap();
  gap->set_name(name);
  gap->set_flops_per_step(flops);
  gap->set_share(flops / model_flops);
  gap->set_meaning(std::move(meaning));
}

std::string MeaningOfMore(const WorkloadSpec& work, double model_flops) {
  std::string meaning =
      "FLOPs beyond the model's in other kernels: activations computed twice, "
      "matrix products that the model's FLOPs leave out";
  if (work.forward_flops_per_step() > 0 && work.forward_flops_per_step() < 0.5 * model_flops) {
    meaning += "; computing every activation twice costs " +
               PercentText(work.forward_flops_per_step() / model_flops);
  }
  return meaning;
}

// What was executed and not needed, by what can be separated. The parts sum to the whole.
void SetGap(const WorkloadSpec& work, const Executed& executed, EfficiencySummary* efficiency) {
  const double model_flops = efficiency->model_flops_per_step();
  double rest = executed.all - model_flops;
  if (work.padded_tokens_per_step() > work.tokens_per_step() && work.tokens_per_step() > 0) {
    const double padding =
        model_flops * (work.padded_tokens_per_step() / work.tokens_per_step() - 1);
    rest -= padding;
    AddGap(kGapPadding, padding, model_flops,
           "tokens that are computed and mean nothing: pack sequences, sort them by length",
           efficiency);
  }
  const double attention = executed.attention - work.attention_flops_per_step();
  if (work.attention_flops_per_step() > 0 && executed.attention > 0) {
    rest -= attention;
    AddGap(kGapAttention, attention, model_flops,
           "attention kernels' FLOPs beyond the model's: scores computed again in the backward "
           "pass, blocks half masked",
           efficiency);
  }
  if (rest >= 0) {
    AddGap(kGapMore, rest, model_flops, MeaningOfMore(work, model_flops), efficiency);
  } else {
    AddGap(kGapFewer, rest, model_flops,
           "fewer FLOPs than the model needs: its FLOPs are given too high, steps leave work out, "
           "or counters missed some",
           efficiency);
  }
}

// The 95 % interval of the executed FLOPs, as a share of the model's.
double ErrorOfExecuted(const EfficiencySummary& efficiency) {
  if (!efficiency.has_hfu_error() || efficiency.hfu() <= 0) return 0;
  return kNormal95 * efficiency.hfu_error() / efficiency.hfu() *
         efficiency.executed_flops_per_step() / efficiency.model_flops_per_step();
}

std::string DescribeGap(const EfficiencySummary& efficiency) {
  const double more = efficiency.executed_flops_per_step() / efficiency.model_flops_per_step() - 1;
  std::string text = "executed and model FLOPs agree";
  if (std::abs(more) >= kAgreeing) {
    text = "measured FLOPs are " + PercentText(std::abs(more)) + (more > 0 ? " above" : " below") +
           " the model's";
    if (std::abs(more) <= ErrorOfExecuted(efficiency)) text += ", which is within their error";
  }
  std::string parts;
  for (const FlopsGap& gap : efficiency.gap()) {
    if (std::abs(gap.share()) < kAgreeing) continue;
    parts += (parts.empty() ? ": " : ", ") + gap.name();
    // One part is the whole, whose share is said already.
    if (efficiency.gap_size() > 1) parts += " " + PercentText(gap.share());
  }
  return text + parts;
}

}  // namespace

void SummarizeEfficiency(const RunState& state, const Analysis& analysis, Summary* summary) {
  EfficiencySummary efficiency;
  const std::vector<double> weights = PeakWeights(state, analysis);
  SetHfu(state, weights, *summary, &efficiency);
  SetAttainable(state, analysis, weights, &efficiency);
  SetMfu(state, analysis, *summary, &efficiency);
  const Executed executed = ExecutedPerStep(state, analysis, *summary);
  if (executed.all > 0) efficiency.set_executed_flops_per_step(executed.all);
  const bool impossible = efficiency.has_peak_flops_per_second() && !efficiency.has_mfu();
  if (executed.all > 0 && efficiency.has_model_flops_per_step() && !impossible) {
    SetGap(state.work, executed, &efficiency);
    efficiency.set_gap_note(DescribeGap(efficiency));
  }
  if (efficiency.ByteSizeLong() > 0) *summary->mutable_efficiency() = std::move(efficiency);
}

}  // namespace utlz
