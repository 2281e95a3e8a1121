// Whose the kernels of CUDA graphs are, as the report knows it: a graph's nodes have the stacks of
// their capture, or those of the same kernels launched without a graph
// (collector/owners/graph_owners.h). All that an export sees of a node otherwise is what launched
// its graph. Thread safety: none.
#ifndef UTLZ_TOOLS_EXPORT_NODE_STACKS_H_
#define UTLZ_TOOLS_EXPORT_NODE_STACKS_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>

#include "collector/profile/profile_reader.h"
#include "collector/run/process_table.h"
#include "collector/run/run_state.h"
#include "collector/run/stack_table.h"

namespace utlz {

class NodeStacks {
 public:
  struct NodeOwner {
    uint32_t stack = kNoStack;  // kNoStack: not known
    bool inferred = false;      // its capture was not seen
  };

  // None is known.
  NodeStacks() = default;
  // Reads all of a profile in which graphs and stacks are, and rewinds it.
  explicit NodeStacks(ProfileReader* reader);
  explicit NodeStacks(const RunState& state) { Infer(state); }

  // The stack of `stacks` whose the kernel of a node is. Always give it the same table.
  NodeOwner Find(uint32_t source, const VariantShape& shape, StackTable* stacks);

 private:
  void Infer(const RunState& state);

  StackTable own_;
  std::map<std::tuple<uint32_t, uint64_t, uint64_t>, NodeOwner> of_nodes_;  // (source, graph, node)
  std::unordered_map<uint32_t, uint32_t> copied_;  // of own_ to the other table's
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_NODE_STACKS_H_
