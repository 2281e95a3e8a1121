// What nodes of CUDA graphs cost a program besides their records. CUPTI's presence makes the launch
// of a graph longer for each node, recorded or not, which the program feels as far as its GPU
// waited for the launch (graph_waits.h). Once the GPU was sampled, nodes may follow each other
// sooner.
//
// What a program does to its graphs between two launches takes longer too, such as the
// cuGraphExecKernelNodeSetParams by which XLA updates each node: no record tells how often, so it
// is not in here.
#ifndef UTLZ_COLLECTOR_ANALYSIS_GRAPH_PRESENCE_H_
#define UTLZ_COLLECTOR_ANALYSIS_GRAPH_PRESENCE_H_

#include "collector/run/run_state.h"

namespace utlz {

// Nanoseconds of the program for each node that it launched, and the ± of the 95 % interval. Never
// below zero: where sampling saves more than presence costs, the ± is as much wider.
struct GraphNodeCost {
  double ns = 0;
  double error_ns = 0;
};

GraphNodeCost GraphNodeCostOf(const RunState& state, const ProcessState& process);

// Recorded or not. Launches between windows are taken to be of the same kinds as the recorded ones.
double GraphNodesLaunched(const ProcessState& process);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_GRAPH_PRESENCE_H_
