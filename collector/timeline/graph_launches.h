// Launches of CUDA graphs on one device, by executable graph: one that is launched again and again
// and does most of the work marks the steps.
//
// An executable graph is known by the process and the node (kernel variant) with which its launch
// begins; its launch by the correlation of the launching call. Bounded to kMaxGraphs and
// kMostStarts. Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_GRAPH_LAUNCHES_H_
#define UTLZ_COLLECTOR_TIMELINE_GRAPH_LAUNCHES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "collector/timeline/step_starts.h"

namespace utlz {

class GraphLaunches {
 public:
  static constexpr size_t kMaxGraphs = 4096;
  static constexpr size_t kMostStarts = 1u << 20;  // of all graphs together

  // A batch of records has nodes of graph launch `correlation` (not 0) of a process: the first is
  // `variant`, the first with times that can be true starts at `start_ns`. True where the launch
  // begins with them.
  bool Begin(uint32_t source, uint32_t correlation, uint32_t variant, uint64_t start_ns);
  // How long nodes of that launch ran. Stragglers of a launch before the latest count for nothing.
  void AddTime(uint32_t source, uint32_t correlation, uint64_t time_ns);

  // Start of each launch, and of the one after it, of the graph that took at least half of
  // `kernel_time_ns`, in order; empty where there is none.
  std::vector<std::pair<uint64_t, uint64_t>> StepsOfMainGraph(uint64_t kernel_time_ns) const;
  // The same of a process's graphs.
  std::vector<std::pair<uint64_t, uint64_t>> StepsOfMainGraph(uint32_t source,
                                                              uint64_t kernel_time_ns) const;

 private:
  struct Graph {
    uint64_t kernel_time_ns = 0;
    StepStarts starts;
  };
  struct Latest {
    uint32_t correlation = 0;
    std::pair<uint32_t, uint32_t> graph;  // key of graphs_
  };

  using Graphs = std::map<std::pair<uint32_t, uint32_t>, Graph>;

  void AddStart(uint64_t start_ns, Graph* graph);
  static std::vector<std::pair<uint64_t, uint64_t>> StepsOfMain(Graphs::const_iterator begin,
                                                                Graphs::const_iterator end,
                                                                uint64_t kernel_time_ns);

  Graphs graphs_;                      // by process and first node's variant
  std::map<uint32_t, Latest> latest_;  // by process
  size_t starts_ = 0;                  // kept, of all
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_GRAPH_LAUNCHES_H_
