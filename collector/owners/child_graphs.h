// Finds the instruction of XLA that a library launched a kernel for, as cuBLAS does, in a CUDA
// graph. XLA captures such a kernel into a child graph, which is one node of the program's graph.
// CUPTI numbers the nodes inside of child graphs after all others, and does not say what they were
// made from.
//
// The agent sends the stacks of a program's instructions in the order in which XLA built its graph.
// Some of these instructions have a node that the agent saw. If the others are as many as the nodes
// inside of child graphs, then the first of them launched the first of these nodes, and so on.
#ifndef UTLZ_COLLECTOR_OWNERS_CHILD_GRAPHS_H_
#define UTLZ_COLLECTOR_OWNERS_CHILD_GRAPHS_H_

#include <cstdint>
#include <vector>

#include "collector/run/run_state.h"

namespace utlz {

// `graph`: the nodes of one graph as indexes into GraphNodes::nodes(), in the order of their
// numbers. The agent saw its first nodes being captured; the last ones are inside of child graphs.
// Returns one stack for each of these, in order. Returns nothing where instructions and nodes do
// not fit together.
std::vector<uint32_t> StacksOfChildGraphs(const RunState& state,
                                          const std::vector<uint32_t>& graph);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_OWNERS_CHILD_GRAPHS_H_
