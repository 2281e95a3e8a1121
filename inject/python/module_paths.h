// Paths of modules beneath the outermost one of their model, as `named_modules()` gives them:
// `model.layers.3.self_attn`. A module that no `_modules` leads to has its class and an ordinal
// instead (`Attention#2`), counted in the order in which modules were first asked for.
//
// One thread at a time; never on a launch path: a model is read by system calls.
#ifndef UTLZ_INJECT_PYTHON_MODULE_PATHS_H_
#define UTLZ_INJECT_PYTHON_MODULE_PATHS_H_

#include <cstdint>

#include "inject/python/python_layout.h"
#include "inject/python/python_module.h"

namespace utlz::agent {

class ModulePaths {
 public:
  static constexpr uint32_t kMostModules = 1 << 14;
  static constexpr uint32_t kMostPathBytes = 512;
  static constexpr uint32_t kMostClassBytes = 128;

  // Once, before all others. False where there is no memory.
  // `memory` must outlive it.
  bool Create(const PythonLayout& layout, MemoryPages* memory);
  // Reads models anew from now on: modules may have come and gone. Ordinals stay, and which models
  // there were.
  void Forget();
  // Writes the path of `module` in the model whose outermost module is `root`: empty for that one.
  // `around` is the path of the module that called it. False where it has no path in the model and
  // was given its class and an ordinal.
  bool Find(uint64_t root, uint64_t module, const char* around, char* path);
  // The outermost module of a model that `module` is in; else itself. A model is known once Find
  // has been asked for a module in it, and stays known beyond Forget: it is then read here.
  uint64_t OutermostAround(uint64_t module);
  // How often a module turned out to be part of a model that was called later: paths in it changed.
  uint32_t adoptions() const { return adoptions_; }

 private:
  static constexpr uint32_t kSlots = kMostModules * 2;
  static constexpr uint32_t kMostDepth = 32;
  static constexpr uint32_t kMostChildren = 4096;
  static constexpr uint32_t kMostRoots = 64;
  static constexpr uint32_t kMostOrdinals = 4096;

  struct Node {
    uint64_t module;
    uint32_t parent;  // index; of a root its own
    char name[PythonModuleChild::kMostNameBytes];
  };
  struct Ordinal {
    uint64_t module;
    uint32_t number;
    char class_name[kMostClassBytes];
  };

  // Reads a model, unless that was done since Forget.
  void ReadOnce(uint64_t root);
  void Read(uint64_t root);
  // Whether there are modules in it now.
  bool IsModel(uint64_t module);
  void KeepModels();
  bool Adopt(const PythonModuleChild& child, uint32_t at, uint64_t root);
  // The index of a module's node, or kMostModules.
  uint32_t IndexOf(uint64_t module) const;
  uint32_t Add(uint64_t module, uint32_t parent, const char* name);
  bool WritePath(uint32_t index, uint64_t root, char* path) const;
  void WriteOrdinal(uint64_t module, const char* around, char* path);

  PythonLayout layout_;
  MemoryPages* memory_ = nullptr;
  Node* nodes_ = nullptr;
  uint32_t* slots_ = nullptr;  // open addressing; index + 1, 0 = free
  PythonModuleChild* children_ = nullptr;
  Ordinal* ordinals_ = nullptr;
  uint64_t roots_[kMostRoots] = {};   // read since Forget
  uint64_t models_[kMostRoots] = {};  // outermost modules with modules in them, known before it
  uint32_t count_ = 0, root_count_ = 0, model_count_ = 0, ordinal_count_ = 0;
  uint32_t adoptions_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_MODULE_PATHS_H_
