#include "collector/owners/child_graphs.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

namespace utlz {
namespace {

using Instructions = StackTable::Instructions;
using Place = Instructions::const_iterator;

// Whether the process sent `b` right after `a`, with the same frames outside.
bool Follows(Place a, Place b) {
  return a->first.first == b->first.first && a->first.second + 1 == b->first.second &&
         a->second.outer == b->second.outer;
}

// The instructions that a process sent one after another, `within` among them: from the first one
// up to the second, which is not one of them.
std::pair<Place, Place> RunAround(const Instructions& all, Place within) {
  Place begin = within, end = std::next(within);
  while (begin != all.begin() && Follows(std::prev(begin), begin)) --begin;
  while (end != all.end() && Follows(std::prev(end), end)) ++end;
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
  const Instructions& all = state.stacks.instructions();
  const GraphNodes::Node& first = nodes[graph[0]];
  const Place of_first = all.find({first.source, first.captured_id});
  if (of_first == all.end()) return {};
  const auto [begin, end] = RunAround(all, of_first);
  std::vector<uint32_t> stacks;
  for (Place one = begin; one != end; ++one) {
    if (ids.erase(one->first.second) == 0) stacks.push_back(one->second.stack);
  }
  return ids.empty() && stacks.size() == graph.size() - seen ? stacks : std::vector<uint32_t>();
}

}  // namespace utlz
