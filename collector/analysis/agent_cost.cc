#include "collector/analysis/agent_cost.h"

#include <algorithm>

#include "proto/tracing_cost.h"

namespace utlz {
namespace {

double DriverCostNs(const ProcessState& process) {
  const AgentStatus& status = process.status;
  if (status.tracing_cost_ns() > 0) return static_cast<double>(status.tracing_cost_ns());
  const uint64_t recorded = status.launches_recorded();
  const uint64_t nodes = std::min<uint64_t>(recorded, process.graph_nodes);
  return static_cast<double>(TracingCostNs(recorded - nodes, nodes));
}

}  // namespace

std::optional<double> TracingCostShare(const ProcessState& process, uint64_t now_ns) {
  const uint64_t start_ns = process.info.start_time_ns();
  const uint64_t end_ns = process.LivedUntilNs(now_ns);
  if (!process.has_status || end_ns <= start_ns) return std::nullopt;
  // A process states its own cost, and may state any number.
  return std::min(1.0, TracingCostNs(process) / static_cast<double>(end_ns - start_ns));
}

double TracingCostNs(const ProcessState& process) {
  if (!process.has_status) return 0;
  return DriverCostNs(process) + static_cast<double>(process.status.agent_thread_cpu_ns());
}

double RecordsCostNs(const RunState& state) {
  double cost_ns = 0;
  for (const auto& [source, process] : state.processes.processes()) {
    if (process->has_status) cost_ns += DriverCostNs(*process);
  }
  return cost_ns;
}

double TracedLaunchCostNs(const ProcessState& process) {
  const AgentStatus& status = process.status;
  const uint64_t nodes = std::min<uint64_t>(status.launches_recorded(), process.graph_nodes);
  const uint64_t launches = status.launches_recorded() - nodes;
  const double charged_ns = static_cast<double>(status.tracing_cost_ns()) -
                            static_cast<double>(nodes * kTracedGraphNodeNs);
  const double mean_ns = launches > 0 ? charged_ns / static_cast<double>(launches) : 0;
  return std::clamp(mean_ns, static_cast<double>(kTracedLaunchNs),
                    static_cast<double>(kMostTracedLaunchNs));
}

double TracedLaunchCostNs(const RunState& state) {
  double largest_ns = 0;
  for (const auto& [source, process] : state.processes.processes()) {
    if (process->has_status) largest_ns = std::max(largest_ns, TracedLaunchCostNs(*process));
  }
  return largest_ns;
}

double TracedGraphsCostNs(const RunState& state) {
  double cost_ns = 0;
  for (const auto& [source, process] : state.processes.processes()) {
    if (process->has_status) {
      cost_ns += static_cast<double>(process->graph_nodes * kTracedGraphNodeNs);
    }
  }
  return cost_ns;
}

}  // namespace utlz
