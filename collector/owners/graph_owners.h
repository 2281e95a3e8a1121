// Whose the kernels of CUDA graphs are. Their own stack is that of the launch of the graph. Where
// the agent saw the capture of a node, it has the stack of that moment. What is left was concluded
// from the order of kernels, and is marked so wherever it is shown.
//
// Kernels that libraries launch for XLA have the instructions that are left over (child_graphs.h).
// A graph whose kernels the program also launched by themselves, in the same order, has the stacks
// of these launches (sequence_match.h). Where there is no such pass, a part that repeats
// (repeated_part.h) stands for the layers, without a name. docs/design/graph-owners.md says when
// neither is done.
#ifndef UTLZ_COLLECTOR_OWNERS_GRAPH_OWNERS_H_
#define UTLZ_COLLECTOR_OWNERS_GRAPH_OWNERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/kernel_names/kernel_family.h"
#include "collector/run/run_state.h"

namespace utlz {

inline constexpr uint32_t kNoPart = UINT32_MAX;

// Work of one kernel that was launched from one stack and belongs to another owner.
struct MovedWork {
  uint32_t kernel = 0;         // index into KernelTable
  uint32_t launched_from = 0;  // the stack of the graph's launch; 0: not known
  uint32_t stack = 0;          // whose the work is; for a part that of the graph's launch
  uint32_t part = kNoPart;     // index into GraphOwners::parts
  bool seen = false;           // when the node was captured: not inferred
  uint64_t launches = 0;
  uint64_t time_ns = 0;
};

// Kernels of one family in a row, within a part of graphs that repeats.
struct PartOfLayer {
  uint32_t repeats = 0;   // how often the part around it stands in the graph
  uint32_t layer = 0;     // the part around it: equal numbers are one
  uint32_t position = 0;  // from 1
  KernelFamily family = KernelFamily::kOther;
};

struct GraphOwners {
  std::vector<MovedWork> work;
  std::vector<PartOfLayer> parts;
  // By index into GraphNodes::nodes(): whose its kernel is, kNoStack where that is not known.
  std::vector<uint32_t> stack_of_node;
  std::vector<bool> node_was_seen;  // by the same index: when it was captured
  size_t matched_by_class = 0;  // of these: only without tiles and grids their kernels are the same
};

// The work that this does is bounded, whatever the run holds. Thread safety: reads the state alone.
GraphOwners InferGraphOwners(const RunState& state);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_OWNERS_GRAPH_OWNERS_H_
