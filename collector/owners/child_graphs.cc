#include "collector/owners/child_graphs.h"

#include <algorithm>
#include <cstddef>
#include <set>

namespace utlz {
namespace {

using Instruction = StackTable::Instruction;

bool IsBefore(const Instruction& a, uint32_t source, uint32_t id) {
  return a.source != source ? a.source < source : a.id < id;
}

// The instructions around this one whose stacks came right before and after it, from the same
// frames outside. Empty where it is none.
std::vector<Instruction> RunAround(const std::vector<Instruction>& all, uint32_t source,
                                   uint32_t id) {
  const auto found = std::lower_bound(
      all.begin(), all.end(), id,
      [source](const Instruction& one, uint32_t of) { return IsBefore(one, source, of); });
  if (found == all.end() || found->source != source || found->id != id) return {};
  const auto follow = [](const Instruction& a, const Instruction& b) {
    return a.source == b.source && a.id + 1 == b.id && a.outer == b.outer;
  };
  auto begin = found, end = found + 1;
  while (begin != all.begin() && follow(*(begin - 1), *begin)) --begin;
  while (end != all.end() && follow(*(end - 1), *end)) ++end;
  return {begin, end};
}

}  // namespace

std::vector<uint32_t> StacksOfChildGraphs(const RunState& state,
                                          const std::vector<uint32_t>& graph) {
  const std::vector<GraphNodes::Node>& nodes = state.graph_nodes.nodes();
  size_t seen = 0;
  while (seen < graph.size() && nodes[graph[seen]].captured != kNoStack) ++seen;
  const bool others_are_unseen =
      std::all_of(graph.begin() + static_cast<ptrdiff_t>(seen), graph.end(),
                  [&](uint32_t node) { return nodes[node].captured == kNoStack; });
  if (seen == 0 || seen == graph.size() || !others_are_unseen) return {};
  std::set<uint32_t> ids;  // of the stacks of nodes that were seen
  for (size_t i = 0; i < seen; ++i) ids.insert(nodes[graph[i]].captured_id);
  const GraphNodes::Node& first = nodes[graph[0]];
  std::vector<uint32_t> stacks;
  for (const Instruction& one :
       RunAround(state.stacks.instructions(), first.source, first.captured_id)) {
    if (ids.erase(one.id) == 0) stacks.push_back(one.stack);
  }
  return ids.empty() && stacks.size() == graph.size() - seen ? stacks : std::vector<uint32_t>();
}

}  // namespace utlz
