#include "collector/summary/slowdown_summary.h"

#include <algorithm>
#include <optional>

#include "collector/analysis/agent_cost.h"
#include "collector/analysis/counters_cost.h"
#include "collector/analysis/graph_presence.h"
#include "collector/analysis/measured_cost.h"
#include "collector/analysis/presence_cost.h"
#include "collector/analysis/process_slowdown.h"
#include "collector/normal_interval.h"
#include "collector/text/slowdown_text.h"
#include "proto/tracing_cost.h"

namespace utlz {
namespace {

bool SlowdownTakenOut(const Analysis& analysis) {
  return std::any_of(analysis.devices.begin(), analysis.devices.end(),
                     [](const DeviceAnalysis& device) { return device.part.slowdown_ns > 0; });
}

// Of the GPU where it is most.
std::optional<MeasuredCost> MeasuredOnADevice(const RunState& state) {
  std::optional<MeasuredCost> most;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    const std::optional<MeasuredCost> cost = MeasureCostOn(state, i);
    if (!cost.has_value()) continue;
    if (!most.has_value() || cost->window_share > most->window_share) most = cost;
  }
  return most;
}

// The least that any process waits for its host.
double LeastFeltShare(const RunState& state, const Analysis& analysis) {
  double least = 1;
  for (const auto& [source, process] : state.processes.processes()) {
    if (!process->has_status) continue;
    least = std::min(least, FeltShare(IdleShareOf(state, analysis, *process)));
  }
  return least;
}

// Of the traced steps: by what a record costs elsewhere, but no more than what was measured leaves
// possible.
std::optional<SlowdownPart> EstimateSlowdownOfTracedSteps(const RunState& state,
                                                          const Analysis& analysis) {
  double window_ns = 0;
  double kernel_share = 0;
  for (const DeviceAnalysis& device : analysis.devices) {
    window_ns += device.part.TimeNs();
    kernel_share = std::max(kernel_share, device.part.kernel_share);
  }
  const double cost_ns = kernel_share * RecordsCostNs(state);
  if (window_ns <= 0 || cost_ns <= 0) return std::nullopt;
  const double share = std::min(1.0, cost_ns / window_ns);
  if (const auto measured = MeasuredOnADevice(state); measured.has_value()) {
    const double most = measured->window_share + kNormal95 * measured->window_standard_error;
    if (most < share) return SlowdownPart{std::max(0.0, most), std::max(0.0, most)};
  }
  return SlowdownPart{share, EstimateErrorShare(LeastFeltShare(state, analysis)) * share};
}

// What CUPTI's presence costs the steps for nodes of graphs, by the nodes recorded in them.
SlowdownPart GraphPresenceOfSteps(const RunState& state, const Analysis& analysis) {
  double window_ns = 0;
  double kernel_share = 0;
  for (const DeviceAnalysis& device : analysis.devices) {
    window_ns += device.part.TimeNs();
    kernel_share = std::max(kernel_share, device.part.kernel_share);
  }
  SlowdownPart part;
  if (window_ns <= 0) return part;
  for (const auto& [source, process] : state.processes.processes()) {
    const GraphNodeCost node = GraphNodeCostOf(state, *process);
    const double nodes_per_ns =
        kernel_share * static_cast<double>(process->graph_nodes) / window_ns;
    part.share += nodes_per_ns * node.ns;
    part.error_share += nodes_per_ns * node.error_ns;
  }
  return {std::min(1.0, part.share), std::min(1.0, part.error_share)};
}

// From the first step to the last one, traced or not. Once records have ended nobody counts steps:
// then they are taken to go on until the program ends.
double StepsTimeNs(const RunState& state, const StepsSpan& steps, const CaptureSummary& capture) {
  double time_ns = static_cast<double>(steps.end_ns - steps.start_ns) + steps.after_ns;
  if (capture.has_records_ended_after_ns() && state.NewestNs() > steps.start_ns) {
    time_ns = std::max(time_ns, static_cast<double>(state.NewestNs() - steps.start_ns));
  }
  return time_ns;
}

// By the counters of the GPU that the steps are of.
SlowdownPart CountersCostOfSteps(const RunState& state, const StepsSpan& steps, double steps_ns,
                                 double sampled_share) {
  const CountersCost cost = CountersCostOf(state.devices[steps.device]);
  if (!cost.is_accounted) {
    return {kSamplingSlowdown * sampled_share, kSamplingSlowdown * sampled_share};
  }
  // Power limits the clock where the program works: in its steps.
  return {std::min(1.0, cost.ns / steps_ns), std::min(1.0, cost.error_ns / steps_ns)};
}

// Of all steps, by that of the traced ones: those between windows pay for CUPTI's presence alone.
SlowdownPart SlowdownOfAllSteps(const RunState& state, const Analysis& analysis,
                                const SlowdownPart& of_traced, const CaptureSummary& capture) {
  if (!analysis.steady.steps.has_value()) return of_traced;
  const StepsSpan& steps = *analysis.steady.steps;
  const double steps_ns = StepsTimeNs(state, steps, capture);
  if (steps_ns <= 0) return of_traced;
  const double traced_share =
      std::min(1.0, analysis.devices[steps.device].part.TimeNs() / steps_ns);
  const SlowdownPart counters = CountersCostOfSteps(
      state, steps, steps_ns, traced_share * std::min(1.0, capture.steps_sampled_share()));
  const double run_ns = state.run_start.has_value()
                            ? static_cast<double>(state.NewestNs() - state.run_start->time_ns())
                            : steps_ns;
  const double untraced_share = 1 - traced_share;
  const auto presence = [&](double share) {
    return std::min(untraced_share, share * std::max(1.0, run_ns / steps_ns));
  };
  return {traced_share * of_traced.share + counters.share + presence(capture.presence_cost_share()),
          traced_share * of_traced.error_share + counters.error_share +
              presence(capture.presence_cost_error_share())};
}

void SetPresenceCost(const RunState& state, const Analysis& analysis, CaptureSummary* capture) {
  const auto presence = PresenceCostOf(state, analysis);
  if (!presence.has_value()) return;
  capture->set_presence_cost_share(presence->share);
  capture->set_presence_cost_error_share(presence->error_share);
  if (!presence->records_ended) return;
  capture->set_records_ended_after_ns(presence->recorded_ns);
  capture->set_later_windows_cost_share(presence->later_windows_share);
}

void SetSlowdown(const RunState& state, const Analysis& analysis,
                 const std::optional<SlowdownPart>& of_traced_steps, CaptureSummary* capture) {
  const std::optional<ProcessSlowdown> largest = LargestSlowdown(state, analysis);
  if (!largest.has_value()) return;
  const SlowdownPart in_all = largest->InAll();
  SlowdownSummary* slowdown = capture->mutable_slowdown();
  slowdown->set_share(in_all.share);
  slowdown->set_error_share(in_all.error_share);
  slowdown->set_measured(largest->measured);
  slowdown->set_tracing_share(largest->tracing.share);
  slowdown->set_sampling_share(largest->sampling.share);
  slowdown->set_presence_share(largest->presence.share);
  slowdown->set_start_and_end_share(largest->start_and_end_share);
  // What was measured is of the steps too.
  if (!largest->measured && of_traced_steps.has_value()) {
    const SlowdownPart steps = SlowdownOfAllSteps(state, analysis, *of_traced_steps, *capture);
    const SlowdownPart graphs = GraphPresenceOfSteps(state, analysis);
    slowdown->set_steps_share(steps.share + graphs.share);
    slowdown->set_steps_error_share(steps.error_share + graphs.error_share);
  }
  if (!capture->has_overhead_budget_share()) return;
  slowdown->set_over_budget(JudgeByBudget(*capture) == BudgetVerdict::kOver);
}

}  // namespace

void SummarizeSlowdown(const RunState& state, const Analysis& analysis, CaptureSummary* capture) {
  std::optional<SlowdownPart> of_traced_steps;
  if (!SlowdownTakenOut(analysis)) {
    of_traced_steps = EstimateSlowdownOfTracedSteps(state, analysis);
  }
  if (of_traced_steps.has_value()) {
    capture->set_steady_state_slowdown_share(of_traced_steps->share);
  }
  if (const auto measured = MeasureCost(state); measured.has_value()) {
    // Tracing speeds nothing up: less than nothing is nothing, within its error.
    capture->set_measured_cost_share(std::max(0.0, measured->share));
    capture->set_measured_cost_error_share(kNormal95 * measured->standard_error);
    capture->set_measured_cost_windows(measured->windows);
  }
  SetPresenceCost(state, analysis, capture);
  SetSlowdown(state, analysis, of_traced_steps, capture);
}

}  // namespace utlz
