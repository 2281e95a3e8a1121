#include "collector/analysis/graph_presence.h"

#include <algorithm>
#include <cmath>

#include "collector/analysis/presence_cost.h"
#include "collector/run/untraced_time.h"
#include "proto/tracing_cost.h"

namespace utlz {
namespace {

double PresentNodeNs(const ProcessState& process) {
  return process.info.cupti_version() < kFirstCuptiOfDearNodes ? kOlderPresentGraphNodeNs
                                                               : kPresentGraphNodeNs;
}

}  // namespace

GraphNodeCost GraphNodeCostOf(const RunState& state, const ProcessState& process) {
  double waited_share = 0;  // of several GPUs, that of the one that waited most
  bool sampled = false;
  for (uint32_t i = 0; i < state.devices.size(); ++i) {
    if (!Uses(process, i)) continue;
    const DeviceState& device = state.devices[i];
    waited_share =
        std::max(waited_share, device.graph_waits.WaitedShareOf(process.source).value_or(0));
    sampled = sampled || SampledNs(device) > 0;
  }
  const double presence_ns = waited_share * PresentNodeNs(process);
  // Between nothing and the most.
  const double saved_ns = sampled ? kMostSampledGraphNodeSavingNs / 2 : 0;
  // One is of the processor, the other of the GPU: these errors are independent.
  const double error_ns = std::hypot(kFigureErrorShare * presence_ns, saved_ns);
  return {std::max(0.0, presence_ns - saved_ns), error_ns + std::max(0.0, saved_ns - presence_ns)};
}

double GraphNodesLaunched(const ProcessState& process) {
  const auto recorded = static_cast<double>(process.status.operations_recorded());
  const auto in_gaps = static_cast<double>(process.status.operations_in_gaps());
  const double unrecorded = recorded > 0 ? in_gaps / recorded : 0;
  return static_cast<double>(process.graph_nodes) * (1 + unrecorded);
}

}  // namespace utlz
