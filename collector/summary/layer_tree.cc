#include "collector/summary/layer_tree.h"

#include <algorithm>
#include <string>
#include <vector>

#include "collector/kernel_names/kernel_family.h"
#include "collector/layer_pattern.h"
#include "proto/valid_string.h"

namespace utlz {
namespace {

// What lies deeper is one of them.
constexpr size_t kMostComponents = 32;

std::vector<std::string> ComponentsOf(const std::string& path) {
  std::vector<std::string> components;
  for (size_t begin = 0; begin < path.size();) {
    const bool is_last = components.size() + 1 == kMostComponents;
    const size_t end = is_last ? path.size() : std::min(path.find('.', begin), path.size());
    components.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return components;
}

// "(backward part) 2 add + sum" of one, "(backward repeated part)" of a place as a whole.
std::string NameOf(const CompiledPart& part, LaunchPass pass) {
  const bool is_whole = part.position == 0;
  std::string name = pass == LaunchPass::kBackward        ? "(backward "
                     : pass == LaunchPass::kRecomputation ? "(recomputed "
                                                          : "(";
  name += part.place == PartPlace::kStart ? "start"
          : part.place == PartPlace::kEnd ? "end"
          : is_whole                      ? "repeated part"
                                          : "part";
  if (is_whole) return name + ")";
  return name + ") " + std::to_string(part.position) + " " + part.operations;
}

}  // namespace

int LayerTree::OwnerOfNoLayer(const LayerOwner& layer) {
  OwnerSummary head;
  head.set_kind(layer.kind);
  head.set_name(ValidText(NameOfNoLayer(layer)));
  // Programs have few optimizers: these names cannot crowd layers out.
  const std::string key = layer.kind + "\n" + layer.path;
  const bool has_room = list_.size() < kMostLayers || list_.Has(key);
  return list_.Find(has_room ? key : layer.kind, OwnerList::kNone, head);
}

void LayerTree::MarkNumbered(const LayerOwner& layer, int owner) {
  if (layer.has_numbered_names) list_[static_cast<size_t>(owner)].has_numbered_names = true;
}

int LayerTree::OwnerOf(const LayerOwner& layer) {
  if (layer.kind != "layer") return OwnerOfNoLayer(layer);
  OwnerSummary head;
  const std::string shown_path =
      sums_repeated_ ? PatternOf(layer.path, layer.has_numbered_names) : layer.path;
  std::string key = "layer " + layer.model;
  if (list_.size() >= kMostLayers &&
      !list_.Has(shown_path.empty() ? key : key + "." + shown_path)) {
    head.set_kind("outside");
    head.set_name("(other layers)");
    return list_.Find("other", OwnerList::kNone, head);
  }
  head.set_kind("layer");
  head.set_model(ValidText(layer.model));
  head.set_name(ValidText(layer.model));
  int owner = list_.Find(key, OwnerList::kNone, head);
  MarkNumbered(layer, owner);
  std::string path;
  for (const std::string& component : ComponentsOf(shown_path)) {
    path += (path.empty() ? "" : ".") + component;
    key += "." + component;
    head.set_name(ValidText(path));
    owner = list_.Find(key, owner, head);
    MarkNumbered(layer, owner);
  }
  // Of some launches of a layer its class is not known.
  if (!layer.module_class.empty()) {
    list_[static_cast<size_t>(owner)].head.set_module_class(ValidText(layer.module_class));
  }
  return owner;
}

int LayerTree::OwnerOf(const PartOfLayer& part) {
  OwnerSummary head;
  head.set_kind("repeated_part");
  head.set_name("(repeated part)");
  head.set_instances(part.repeats);
  const std::string key = "part " + std::to_string(part.layer);
  const int around = list_.Find(key, OwnerList::kNone, head);
  const std::string name = std::to_string(part.position) + " " + NameOf(part.family);
  head.set_name("(part) " + name);
  return list_.Find(key + " " + name, around, head);
}

int LayerTree::PartOwner(const std::string& key, int around, const std::string& name,
                         uint32_t order, const CompiledPart& part) {
  if (list_.size() >= kMostLayers && !list_.Has(key)) return around;
  const OwnerSummary& layer = list_[static_cast<size_t>(around)].head;
  OwnerSummary head;
  head.set_kind(part.place == PartPlace::kRepeated ? "repeated_part" : "part");
  head.set_name(ValidText(name));
  if (layer.has_model()) head.set_model(layer.model());
  if (part.place == PartPlace::kRepeated) head.set_instances(part.times);
  const int owner = list_.Find(key, around, head);
  list_[static_cast<size_t>(owner)].is_inferred = true;
  list_[static_cast<size_t>(owner)].order = order;
  return owner;
}

int LayerTree::OwnerOf(const LayerOwner& layer, const CompiledPart& part) {
  const int around = OwnerOf(layer);
  // Forward before backward, each in the order of its file.
  const auto pass = static_cast<uint32_t>(layer.pass), place = static_cast<uint32_t>(part.place);
  const uint32_t order = (pass * CompiledParts::kMostParts + part.fold) * 3 + place + 1;
  const std::string key = "part of " + std::to_string(around) + " " + std::to_string(order);
  CompiledPart whole = part;
  whole.position = 0;
  const int owner = PartOwner(key, around, NameOf(whole, layer.pass), order, whole);
  if (owner == around || part.position == 0) return owner;
  return PartOwner(key + " " + std::to_string(part.position) + " " + part.operations, owner,
                   NameOf(part, layer.pass), part.position, part);
}

}  // namespace utlz
