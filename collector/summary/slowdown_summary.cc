#include "collector/summary/slowdown_summary.h"

#include <algorithm>
#include <optional>

#include "collector/analysis/agent_cost.h"
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

// Of the steps: by what a record costs elsewhere, but no more than what was measured leaves
// possible.
std::optional<SlowdownPart> EstimateSlowdownOfSteps(const RunState& state,
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
                 const std::optional<SlowdownPart>& of_steps, CaptureSummary* capture) {
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
  if (!largest->measured && of_steps.has_value()) {
    const SlowdownPart graphs = GraphPresenceOfSteps(state, analysis);
    slowdown->set_steps_share(of_steps->share + graphs.share);
    slowdown->set_steps_error_share(of_steps->error_share + graphs.error_share);
  }
  if (!capture->has_overhead_budget_share()) return;
  slowdown->set_over_budget(JudgeByBudget(*capture) == BudgetVerdict::kOver);
}

}  // namespace

void SummarizeSlowdown(const RunState& state, const Analysis& analysis, CaptureSummary* capture) {
  std::optional<SlowdownPart> of_steps;
  if (!SlowdownTakenOut(analysis)) of_steps = EstimateSlowdownOfSteps(state, analysis);
  if (of_steps.has_value()) capture->set_steady_state_slowdown_share(of_steps->share);
  if (const auto measured = MeasureCost(state); measured.has_value()) {
    // Tracing speeds nothing up: less than nothing is nothing, within its error.
    capture->set_measured_cost_share(std::max(0.0, measured->share));
    capture->set_measured_cost_error_share(kNormal95 * measured->standard_error);
    capture->set_measured_cost_windows(measured->windows);
  }
  SetPresenceCost(state, analysis, capture);
  SetSlowdown(state, analysis, of_steps, capture);
}

}  // namespace utlz
