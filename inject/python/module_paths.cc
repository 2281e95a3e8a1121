#include "inject/python/module_paths.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "inject/base/memory.h"

namespace utlz::agent {
namespace {

uint32_t SlotOf(uint64_t module, uint32_t slots) {
  return static_cast<uint32_t>(module * 0x9E3779B97F4A7C15u >> 40) % slots;
}

bool Has(const uint64_t* modules, uint32_t count, uint64_t module) {
  return std::find(modules, modules + count, module) != modules + count;
}

}  // namespace

bool ModulePaths::Create(const PythonLayout& layout, MemoryPages* memory) {
  layout_ = layout;
  memory_ = memory;
  nodes_ = MapArray<Node>(kMostModules);
  slots_ = MapArray<uint32_t>(kSlots);
  children_ = MapArray<PythonModuleChild>(kMostChildren);
  ordinals_ = MapArray<Ordinal>(kMostOrdinals);
  return nodes_ != nullptr && slots_ != nullptr && children_ != nullptr && ordinals_ != nullptr;
}

void ModulePaths::Forget() {
  memory_->Forget();
  KeepModels();
  ClearArray(nodes_, kMostModules);
  ClearArray(slots_, kSlots);
  count_ = root_count_ = 0;
}

// Forgets models that are gone, and adds those that were read and have modules in them.
void ModulePaths::KeepModels() {
  const auto is_dropped = [this](uint64_t model) {
    return Has(roots_, root_count_, model) || !IsModel(model);
  };
  model_count_ =
      static_cast<uint32_t>(std::remove_if(models_, models_ + model_count_, is_dropped) - models_);
  for (uint32_t i = 0; i < count_; ++i) {
    const uint32_t parent = nodes_[i].parent;
    if (parent == i || nodes_[parent].parent != parent) continue;  // not directly in a model
    const uint64_t model = nodes_[parent].module;
    if (Has(models_, model_count_, model) || model_count_ == kMostRoots) continue;
    models_[model_count_++] = model;
  }
}

bool ModulePaths::Find(uint64_t root, uint64_t module, const char* around, char* path) {
  path[0] = 0;
  if (root == module) return true;
  ReadOnce(root);
  const uint32_t index = IndexOf(module);
  if (index != kMostModules && WritePath(index, root, path)) return true;
  WriteOrdinal(module, around, path);
  return false;
}

uint64_t ModulePaths::OutermostAround(uint64_t module) {
  for (uint32_t i = 0; i < model_count_ && IndexOf(module) == kMostModules; ++i) {
    // What lies where a model lay may be its next owner's, and is read when that is called.
    if (IsModel(models_[i])) ReadOnce(models_[i]);
  }
  uint32_t index = IndexOf(module);
  if (index == kMostModules) return module;
  for (uint32_t i = 0; i < kMostDepth && nodes_[index].parent != index; ++i) {
    index = nodes_[index].parent;
  }
  return nodes_[index].module;
}

bool ModulePaths::IsModel(uint64_t module) {
  return ReadModuleChildren(layout_, memory_, module, children_, 1) > 0;
}

void ModulePaths::ReadOnce(uint64_t root) {
  if (!Has(roots_, root_count_, root) && root_count_ < kMostRoots) Read(root);
}

// Level by level: a node is read when its turn comes, and what is in it comes behind all others.
void ModulePaths::Read(uint64_t root) {
  roots_[root_count_++] = root;
  uint32_t at = IndexOf(root);
  if (at != kMostModules) return;  // part of another model, which has its path
  at = Add(root, count_, "");
  for (; at < count_; ++at) {
    const uint32_t children =
        ReadModuleChildren(layout_, memory_, nodes_[at].module, children_, kMostChildren);
    for (uint32_t i = 0; i < children && count_ < kMostModules; ++i) {
      if (Adopt(children_[i], at, root)) continue;
      Add(children_[i].module, at, children_[i].name);
    }
  }
}

// Whether the module is known already. If it was called by itself before, it becomes part of this
// model, with all that is in it. This makes no circle: nodes between the model's root and `at` are
// newer than the model, so they are not inside the module.
bool ModulePaths::Adopt(const PythonModuleChild& child, uint32_t at, uint64_t root) {
  const uint32_t index = IndexOf(child.module);
  if (index == kMostModules) return false;
  Node& node = nodes_[index];
  if (node.parent != index || child.module == root) return true;
  node.parent = at;
  std::memcpy(node.name, child.name, std::strlen(child.name) + 1);
  ++adoptions_;
  return true;
}

uint32_t ModulePaths::IndexOf(uint64_t module) const {
  for (uint32_t slot = SlotOf(module, kSlots); slots_[slot] != 0; slot = (slot + 1) % kSlots) {
    if (nodes_[slots_[slot] - 1].module == module) return slots_[slot] - 1;
  }
  return kMostModules;
}

uint32_t ModulePaths::Add(uint64_t module, uint32_t parent, const char* name) {
  if (count_ == kMostModules) return kMostModules;
  uint32_t slot = SlotOf(module, kSlots);
  while (slots_[slot] != 0) slot = (slot + 1) % kSlots;
  nodes_[count_] = {module, parent, {}};
  std::memcpy(nodes_[count_].name, name, std::strlen(name) + 1);
  slots_[slot] = ++count_;
  return count_ - 1;
}

bool ModulePaths::WritePath(uint32_t index, uint64_t root, char* path) const {
  uint32_t chain[kMostDepth];
  uint32_t depth = 0;
  while (nodes_[index].module != root) {
    if (depth == kMostDepth || nodes_[index].parent == index) return false;
    chain[depth++] = index;
    index = nodes_[index].parent;
  }
  uint32_t used = 0;
  while (depth > 0) {
    const char* const name = nodes_[chain[--depth]].name;
    const auto length = static_cast<uint32_t>(std::strlen(name));
    if (used + length + 2 > kMostPathBytes) return false;
    if (used != 0) path[used++] = '.';
    std::memcpy(path + used, name, length + 1);
    used += length;
  }
  return true;
}

void ModulePaths::WriteOrdinal(uint64_t module, const char* around, char* path) {
  uint32_t at = 0, number = 1;
  char class_name[kMostClassBytes];
  if (!ReadClassName(memory_, module, class_name, sizeof(class_name))) {
    std::memcpy(class_name, "module", sizeof("module"));
  }
  for (; at < ordinal_count_; ++at) {
    const bool same = std::strcmp(ordinals_[at].class_name, class_name) == 0;
    if (same && ordinals_[at].module == module) break;
    if (same) ++number;
  }
  if (at < ordinal_count_) {
    number = ordinals_[at].number;
  } else if (ordinal_count_ < kMostOrdinals) {
    ordinals_[ordinal_count_] = {module, number, {}};
    std::memcpy(ordinals_[ordinal_count_++].class_name, class_name, sizeof(class_name));
  }
  snprintf(path, kMostPathBytes, "%s%s%s#%u", around, around[0] == 0 ? "" : ".", class_name,
           number);
}

}  // namespace utlz::agent
