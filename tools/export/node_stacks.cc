#include "tools/export/node_stacks.h"

#include "collector/decode/parse.h"
#include "collector/owners/graph_owners.h"
#include "collector/run/run_intake.h"

namespace utlz {
namespace {

// Others need not be read as a run, which takes time.
bool HasGraphsAndStacks(ProfileReader* reader) {
  bool has_graphs = false, has_stacks = false;
  FrameView frame;
  while (!(has_graphs && has_stacks) && reader->Next(&frame)) {
    has_stacks = has_stacks || frame.type == FRAME_STACKS;
    Variants variants;
    if (has_graphs || frame.type != FRAME_VARIANTS || !Parse(frame.payload, &variants)) continue;
    for (const uint64_t node : variants.graph_node()) has_graphs = has_graphs || node != 0;
  }
  reader->Rewind();
  return has_graphs && has_stacks;
}

}  // namespace

NodeStacks::NodeStacks(ProfileReader* reader) {
  if (!HasGraphsAndStacks(reader)) return;
  RunIntake run;
  FrameView frame;
  while (reader->Next(&frame)) run.Consume(frame.source, frame.type, frame.payload);
  reader->Rewind();
  run.EndOfInput();
  Infer(run.Advance());
}

void NodeStacks::Infer(const RunState& state) {
  const GraphOwners owners = InferGraphOwners(state);
  for (size_t i = 0; i < owners.stack_of_node.size(); ++i) {
    const uint32_t stack = own_.Copy(state.stacks, owners.stack_of_node[i]);
    const GraphNodes::Node& node = state.graph_nodes.nodes()[i];
    if (stack == kNoStack) continue;
    of_nodes_[{node.source, node.graph, node.id}] = {stack, !owners.node_was_seen[i]};
  }
}

NodeStacks::NodeOwner NodeStacks::Find(uint32_t source, const VariantShape& shape,
                                       StackTable* stacks) {
  if (shape.graph_node == 0) return {};
  const auto known = of_nodes_.find({source, shape.graph, shape.graph_node});
  if (known == of_nodes_.end()) return {};
  const auto [copied, is_new] = copied_.try_emplace(known->second.stack, kNoStack);
  if (is_new) copied->second = stacks->Copy(own_, known->second.stack);
  return {copied->second, known->second.inferred};
}

}  // namespace utlz
