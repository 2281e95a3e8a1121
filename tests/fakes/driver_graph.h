// Graphs and their nodes, as the driver keeps them.
#ifndef UTLZ_TESTS_FAKES_DRIVER_GRAPH_H_
#define UTLZ_TESTS_FAKES_DRIVER_GRAPH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/fakes/driver_state.h"

namespace utlz::fake {

struct Graph;

struct GraphNode {
  uint64_t id;
  CUgraphNodeType type;
  LaunchShape shape;       // kernels
  uint64_t set_bytes = 0;  // sets
  uint32_t set_value = 0;
  CUgraphConditionalHandle condition = 0;
  std::unique_ptr<Graph> body;  // of a conditional node
};

struct Graph {
  uint32_t id;
  std::vector<std::unique_ptr<GraphNode>> nodes;  // in the order in which they run
};

// An instantiated graph: nodes copied, with their own identifiers, and the originals that they
// came from.
struct GraphExec {
  std::unique_ptr<Graph> graph;
  std::vector<const GraphNode*> originals;
};

Graph* FromHandle(CUgraph graph);
CUgraph ToHandle(Graph* graph);
GraphNode* FromHandle(CUgraphNode node);
CUgraphNode ToHandle(GraphNode* node);
GraphExec* FromHandle(CUgraphExec exec);
CUgraphExec ToHandle(GraphExec* exec);

std::unique_ptr<Graph> MakeGraph();
GraphNode* AddNode(Graph* graph, CUgraphNodeType type);
LaunchShape ShapeOf(const CUDA_KERNEL_NODE_PARAMS& params);
void NotifyGraph(uint32_t event, const GraphEvent& details);

// How often the body of a conditional node runs.
uint32_t ConditionalRuns(CUgraphConditionalHandle handle);

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_DRIVER_GRAPH_H_
