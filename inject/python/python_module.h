// What a module of torch.nn says of itself: its class, and the modules in it by their names. Read
// off the launch path by copies of the kernel's (memory_pages.h); other threads may be changing it
// meanwhile, so each object's type is looked at before it is accepted.
#ifndef UTLZ_INJECT_PYTHON_PYTHON_MODULE_H_
#define UTLZ_INJECT_PYTHON_PYTHON_MODULE_H_

#include <cstdint>

#include "inject/python/memory_pages.h"
#include "inject/python/python_layout.h"

namespace utlz::agent {

struct PythonModuleChild {
  static constexpr uint32_t kMostNameBytes = 56;
  uint64_t module = 0;
  char name[kMostNameBytes];
};

// The name of an object's class, cut at `capacity`. False where the object or its class cannot be
// read.
bool ReadClassName(MemoryPages* memory, uint64_t object, char* name, uint32_t capacity);

// Fills `children` with what the module's `_modules` holds, in its order, and returns how many
// there are, at most `most`. 0 also where it keeps its attributes in no dictionary that can be
// read.
uint32_t ReadModuleChildren(const PythonLayout& layout, MemoryPages* memory, uint64_t module,
                            PythonModuleChild* children, uint32_t most);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_PYTHON_MODULE_H_
