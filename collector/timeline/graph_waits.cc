#include "collector/timeline/graph_waits.h"

#include <algorithm>

#include "proto/tracing_cost.h"

namespace utlz {

void GraphWaits::Add(const Activity& activity) {
  if (activity.of_graph) {
    Waits& waits = by_source_[activity.source];
    if (activity.begins_launch) {
      if (waits.latest.has_value()) {
        waits.nodes += static_cast<double>(waits.latest->nodes);
        waits.waited_nodes += WaitedNodes(*waits.latest);
        waits.latest.reset();
      }
      if (recorded_before_) {
        const uint64_t idle_ns = std::max(activity.start_ns, busy_until_ns_) - busy_until_ns_;
        waits.latest = Launch{.idle_ns = idle_ns, .nodes = 0};
      }
    }
    if (waits.latest.has_value()) ++waits.latest->nodes;
  }
  if (activity.end_ns < busy_until_ns_) return;
  busy_until_ns_ = activity.end_ns;
  recorded_before_ = activity.kind != ActivityKind::kUntraced;
}

std::optional<double> GraphWaits::WaitedShareOf(uint32_t source) const {
  const auto found = by_source_.find(source);
  if (found == by_source_.end()) return std::nullopt;
  const Waits& waits = found->second;
  const Launch latest = waits.latest.value_or(Launch{});
  const double nodes = waits.nodes + static_cast<double>(latest.nodes);
  if (nodes <= 0) return std::nullopt;
  return (waits.waited_nodes + WaitedNodes(latest)) / nodes;
}

double GraphWaits::WaitedNodes(const Launch& launch) {
  const auto nodes = static_cast<double>(launch.nodes);
  const double waited_ns = static_cast<double>(launch.idle_ns) - nodes * kRecordingNodeNs;
  return std::clamp(waited_ns / kPresentGraphNodeNs, 0.0, nodes);
}

}  // namespace utlz
