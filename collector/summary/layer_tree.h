// The layers of a model as a tree of owners, each inside the one around it. What is no layer stands
// beside them. Thread safety: none.
#ifndef UTLZ_COLLECTOR_SUMMARY_LAYER_TREE_H_
#define UTLZ_COLLECTOR_SUMMARY_LAYER_TREE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "collector/owners/compiled_parts.h"
#include "collector/owners/graph_owners.h"
#include "collector/owners/stack_owners.h"
#include "collector/summary/owner_list.h"

namespace utlz {

class LayerTree {
 public:
  // Layers beyond are one: "(other layers)".
  static constexpr size_t kMostLayers = 8192;

  // `sums_repeated`: layers whose paths differ by numbers alone are one, `blocks.*.mlp`.
  explicit LayerTree(bool sums_repeated) : sums_repeated_(sums_repeated) {}

  // Indices of `list`; the owner is added where it is new, with those around it.
  int OwnerOf(const LayerOwner& layer);
  // Kernels of one family within a part of graphs that repeats and has no name.
  int OwnerOf(const PartOfLayer& part);
  // A part of compiled code within the layer that calls it; the layer where there is no room.
  int OwnerOf(const LayerOwner& layer, const CompiledPart& part);

  OwnerList& list() { return list_; }

 private:
  int OwnerOfNoLayer(const LayerOwner& layer);
  void MarkNumbered(const LayerOwner& layer, int owner);
  int PartOwner(const std::string& key, int around, const std::string& name, uint32_t order,
                const CompiledPart& part);

  bool sums_repeated_;
  OwnerList list_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_LAYER_TREE_H_
