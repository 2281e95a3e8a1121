// How far a device waited for launches of CUDA graphs. While CUPTI is in a process, such a launch
// takes its thread longer for each node (proto/tracing_cost.h). The program loses that only where
// its GPU has nothing to do meanwhile: directly before the graph's first node, and no longer than
// the GPU idles there.
//
// Launches are those that were recorded. Recording lengthens the time before them, by
// kRecordingNodeNs a node, so that much of it is no waiting. Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_GRAPH_WAITS_H_
#define UTLZ_COLLECTOR_TIMELINE_GRAPH_WAITS_H_

#include <cstdint>
#include <map>
#include <optional>

#include "collector/timeline/activity.h"

namespace utlz {

class GraphWaits {
 public:
  // Of a graph decode that was recorded throughout (docs/measurements/overhead.md).
  static constexpr uint64_t kRecordingNodeNs = 740;

  // All that runs on the device, in order of start.
  void Add(const Activity& activity);

  // Of the nodes in a process's graphs, the share whose place in a launch the GPU waited for: all
  // of a launch before which it idled for at least kPresentGraphNodeNs a node, a part of one before
  // which it idled for less. Nothing where it is not known of any launch.
  std::optional<double> WaitedShareOf(uint32_t source) const;

 private:
  // The latest launch of a graph: Add may still see more of its nodes.
  struct Launch {
    uint64_t idle_ns = 0;  // of the GPU, before it
    uint64_t nodes = 0;
  };
  struct Waits {
    std::optional<Launch> latest;  // absent where nobody recorded what the GPU did before it
    double nodes = 0;              // of all launches before the latest
    double waited_nodes = 0;
  };

  static double WaitedNodes(const Launch& launch);

  std::map<uint32_t, Waits> by_source_;
  uint64_t busy_until_ns_ = 0;
  bool recorded_before_ = false;  // what ran until `busy_until_ns_` is known
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_GRAPH_WAITS_H_
