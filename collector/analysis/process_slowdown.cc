#include "collector/analysis/process_slowdown.h"

#include <algorithm>

#include "collector/analysis/agent_cost.h"
#include "collector/analysis/counters_cost.h"
#include "collector/analysis/graph_presence.h"
#include "collector/analysis/measured_cost.h"
#include "collector/analysis/presence_cost.h"
#include "collector/normal_interval.h"
#include "collector/run/untraced_time.h"
#include "proto/tracing_cost.h"

namespace utlz {
namespace {

// Of the process's GPU whose counters cost most.
CountersCost LargestCountersCost(const RunState& state, const ProcessState& process) {
  CountersCost largest;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!Uses(process, i)) continue;
    const CountersCost cost = CountersCostOf(state.devices[i]);
    if (cost.ns > largest.ns) largest = cost;
  }
  return largest;
}

// The share of tracing's cost that fell in the first window, a program's start. No gap lies before
// that window, so MeasureCost leaves it out.
double ShareOfFirstWindow(const ProcessState& process, double tracing_share) {
  const uint64_t recorded = process.status.operations_recorded();
  if (process.windows.empty() || recorded == 0) return 0;
  const auto in_first = static_cast<double>(process.windows[0].recorded);
  return tracing_share * std::min(1.0, in_first / static_cast<double>(recorded));
}

// Replaces estimates where the measurement has the smaller error. It compares windows with the gaps
// beside them, so it sees what counters cost only if they are assumed to cost in windows alone.
void Measure(const ProcessState& process, double felt_share, bool counters_in_windows,
             ProcessSlowdown* slowdown) {
  const std::optional<MeasuredCost> measured = MeasureCost(process.windows);
  if (!measured.has_value()) return;
  const double first_share = ShareOfFirstWindow(process, slowdown->tracing.share);
  // Tracing speeds nothing up: less than nothing is nothing, within its error.
  const SlowdownPart part{
      std::max(0.0, measured->share) + first_share,
      kNormal95 * measured->standard_error + EstimateErrorShare(felt_share) * first_share};
  double estimated_error = slowdown->tracing.error_share;
  if (counters_in_windows) estimated_error += slowdown->sampling.error_share;
  if (part.error_share >= estimated_error) return;
  slowdown->measured = true;
  slowdown->tracing = part;
  if (counters_in_windows) slowdown->sampling = {};
}

}  // namespace

SlowdownPart ProcessSlowdown::InAll() const {
  return {tracing.share + sampling.share + presence.share + start_and_end_share,
          tracing.error_share + sampling.error_share + presence.error_share};
}

double EstimateErrorShare(double felt_share) { return 1 - (1 - kFigureErrorShare) * felt_share; }

std::optional<ProcessSlowdown> SlowdownOfProcess(const RunState& state, const Analysis& analysis,
                                                 const ProcessState& process) {
  const std::optional<double> tracing = TracingCostShare(process, state.NewestNs());
  if (!tracing.has_value()) return std::nullopt;
  const auto lived_ns =
      static_cast<double>(process.LivedUntilNs(state.NewestNs()) - process.info.start_time_ns());
  const double idle_share = IdleShareOf(state, analysis, process);
  const double felt_share = FeltShare(idle_share);
  ProcessSlowdown slowdown;
  slowdown.tracing = {*tracing, EstimateErrorShare(felt_share) * *tracing};
  const CountersCost counters = LargestCountersCost(state, process);
  slowdown.sampling = {std::min(1.0, counters.ns / lived_ns),
                       std::min(1.0, counters.error_ns / lived_ns)};
  Measure(process, felt_share, !counters.is_accounted, &slowdown);
  if (const auto presence = PresenceCostOf(process, idle_share, state.NewestNs())) {
    slowdown.presence = {presence->share, presence->error_share};
  }
  const GraphNodeCost node = GraphNodeCostOf(state, process);
  const double nodes_per_ns = GraphNodesLaunched(process) / lived_ns;
  slowdown.presence.share += std::min(1.0, nodes_per_ns * node.ns);
  slowdown.presence.error_share += std::min(1.0, nodes_per_ns * node.error_ns);
  const auto delayed_ns = static_cast<double>(process.status.start_delay_ns()) +
                          static_cast<double>(process.status.end_delay_ns());
  slowdown.start_and_end_share = std::min(1.0, delayed_ns / lived_ns);
  return slowdown;
}

std::optional<ProcessSlowdown> LargestSlowdown(const RunState& state, const Analysis& analysis) {
  std::optional<ProcessSlowdown> largest;
  for (const auto& [source, process] : state.processes.processes()) {
    const auto slowdown = SlowdownOfProcess(state, analysis, *process);
    if (!slowdown.has_value()) continue;
    if (!largest.has_value() || slowdown->InAll().share > largest->InAll().share) {
      largest = slowdown;
    }
  }
  return largest;
}

}  // namespace utlz
