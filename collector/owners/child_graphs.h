// Whose the kernels are that a library launches for an instruction of XLA, as cuBLAS does. XLA
// captures them into a graph of their own, which becomes one node of the program's graph. CUPTI
// numbers the nodes inside of such graphs after all others, and does not say what they were made
// from.
//
// The stacks of a program's instructions came one after another, in the order in which its graph
// was built. So these kernels belong to the instructions that no other node has, in their order,
// where they are as many.
#ifndef UTLZ_COLLECTOR_OWNERS_CHILD_GRAPHS_H_
#define UTLZ_COLLECTOR_OWNERS_CHILD_GRAPHS_H_

#include <cstdint>
#include <vector>

#include "collector/run/run_state.h"

namespace utlz {

// `graph`: indexes into GraphNodes::nodes(), in the order of their numbers. Returns the stacks of
// its last nodes, which are those whose capture was not seen; nothing where that cannot be told.
std::vector<uint32_t> StacksOfChildGraphs(const RunState& state,
                                          const std::vector<uint32_t>& graph);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_OWNERS_CHILD_GRAPHS_H_
