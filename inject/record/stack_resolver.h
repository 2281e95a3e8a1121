// From the addresses of a new stack to its frames' names: functions with file and line, modules of
// torch.nn with their paths. Off the launch path, under the recorder's lock: code objects and
// modules are read by system calls, and what was read is kept until Forget.
#ifndef UTLZ_INJECT_RECORD_STACK_RESOLVER_H_
#define UTLZ_INJECT_RECORD_STACK_RESOLVER_H_

#include <cstdint>

#include "inject/python/memory_pages.h"
#include "inject/python/module_paths.h"
#include "inject/python/python_code.h"
#include "inject/python/python_frames.h"
#include "inject/record/compiled_files.h"
#include "inject/record/stack_tree.h"
#include "inject/record/string_table.h"

namespace utlz::agent {

class StackResolver {
 public:
  // Once, before all others. False where there is no memory.
  bool Create(const PythonLayout& layout, StringTable* strings, CompiledFiles* compiled_files);
  // What was read is read again: code objects and modules come and go.
  void Forget();
  // The stack's number in `tree`; 0 where it has none. If it finds a code object that calls modules
  // of torch.nn, it adds it to `frames` (AddModuleCode): walks then read the module too, and so
  // this stack becomes a new one.
  uint32_t Resolve(const PythonStack& stack, PythonFrames* frames, StackTree* tree);
  // Another number than before: what was resolved earlier may have another path now.
  uint32_t generation() const { return paths_.adoptions(); }
  // Whether a stack is of a forward pass that is done again: of torch.utils.checkpoint's, and not
  // of a backward pass that began inside.
  bool IsRecomputation(uint32_t stack, const StackTree& tree) const;
  // The innermost frame of a stack that is in a file of Inductor's: the stack that ends in it, or
  // 0.
  uint32_t CompiledFrameOf(uint32_t stack, const StackTree& tree) const;

 private:
  static constexpr uint32_t kPlaces = 1u << 14;
  static constexpr uint32_t kMostPlaces = kPlaces / 4 * 3;
  static constexpr uint32_t kClasses = 4096;

  // Where an instruction is.
  struct Place {
    uint64_t instruction = 0;  // 0: free
    uint32_t name = 0;
    uint32_t file = 0;
    uint32_t line = 0;
    bool is_known = false;
    bool is_module_call = false;  // of torch.nn's own function that calls a module
    bool is_checkpoint = false;   // of torch.utils.checkpoint
  };
  struct ModuleClass {
    uint64_t module = 0;
    uint32_t name = 0;
  };
  const Place& PlaceOf(const PythonFrame& frame);
  void Read(const PythonFrame& frame, Place* place);
  uint32_t AddModule(uint64_t root, uint64_t module, uint32_t parent, StackTree* tree);
  // The text of a module's class.
  uint32_t ClassOf(uint64_t module);

  PythonLayout layout_;
  StringTable* strings_ = nullptr;
  CompiledFiles* compiled_files_ = nullptr;
  MemoryPages memory_;
  ModulePaths paths_;
  PythonCode* code_ = nullptr;
  Place* places_ = nullptr;  // open addressing
  uint32_t place_count_ = 0;
  ModuleClass* classes_ =
      nullptr;  // a module's place follows from its address: the last one has it
  char around_[ModulePaths::kMostPathBytes] =
      {};  // of the module that the frames read so far end in
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_STACK_RESOLVER_H_
