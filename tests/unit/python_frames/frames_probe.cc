// What walk_test.py calls by ctypes: walks of the calling thread, in a real interpreter.
#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <cstring>

#include "inject/python/module_paths.h"
#include "inject/python/python_code.h"
#include "inject/python/python_frames.h"

namespace {

using utlz::agent::LineOfInstruction;
using utlz::agent::MemoryPages;
using utlz::agent::ModulePaths;
using utlz::agent::NoStack;
using utlz::agent::PythonCode;
using utlz::agent::PythonFrame;
using utlz::agent::PythonFrames;
using utlz::agent::PythonLayout;
using utlz::agent::PythonStack;
using utlz::agent::PythonWalk;

PythonLayout layout;
PythonFrames frames;
PythonCode code;
MemoryPages memory;
ModulePaths paths;
char path[ModulePaths::kMostPathBytes];
char class_name[ModulePaths::kMostClassBytes];

// Debian's CPython 3.14 has an optimizer that is switched off.
void* LookUpWithoutOptimizer(const char* name) {
  const bool is_optimizer =
      std::strcmp(name, "_PyOptimizer_Optimize") == 0 || std::strcmp(name, "_Py_GetExecutor") == 0;
  return is_optimizer ? nullptr : dlsym(RTLD_DEFAULT, name);
}

bool HasCode(const PythonStack& stack, uint64_t code_address) {
  return std::any_of(stack.frames, stack.frames + stack.frame_count,
                     [&](const PythonFrame& frame) { return frame.code == code_address; });
}

void* WalkWithoutThreadState(void* walk) {
  *static_cast<PythonWalk*>(walk) = frames.Walk();
  return nullptr;
}

// A thread that Python got to know, and that runs none of it: as autograd's of PyTorch.
void* WalkWithThreadState(void* walk) {
  const auto ensure = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Ensure"));
  const auto release = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "PyGILState_Release"));
  const auto save = reinterpret_cast<void* (*)()>(dlsym(RTLD_DEFAULT, "PyEval_SaveThread"));
  const auto restore =
      reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "PyEval_RestoreThread"));
  const int state = ensure();
  void* const thread = save();
  *static_cast<PythonWalk*>(walk) = frames.Walk();
  restore(thread);
  release(state);
  return nullptr;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int frames_probe_open(int without_optimizer) {
  const NoStack why =
      without_optimizer ? FindPython(LookUpWithoutOptimizer, &layout) : FindPython(&layout);
  if (why == NoStack::kNone &&
      !(frames.Create(layout) && memory.Create() && paths.Create(layout, &memory)))
    return -1;
  return static_cast<int>(why);
}

// The stack's hash, 0 where there is none.
uint64_t frames_probe_walk(int* why) {
  const PythonWalk walk = frames.Walk();
  *why = static_cast<int>(walk.why);
  return walk.hash;
}

// The same with the stack, whether it is known or not. One thread at a time.
uint64_t frames_probe_walk_new(PythonStack* stack, int* why) {
  frames.ForgetStacks();
  while (frames.TakeNewStack(stack)) {
  }
  const uint64_t hash = frames_probe_walk(why);
  if (!frames.TakeNewStack(stack)) stack->frame_count = 0;
  return hash;
}

// Samples the launching threads so often at most, until one has a frame of this code.
int frames_probe_sample(uint64_t with_code, uint32_t attempts, PythonStack* stack) {
  for (uint32_t i = 0; i < attempts * PythonFrames::kLaunchers; ++i) {
    if (frames.Sample(i % PythonFrames::kLaunchers, stack) && HasCode(*stack, with_code)) return 1;
  }
  return 0;
}
int frames_probe_take(PythonStack* stack) { return frames.TakeNewStack(stack); }
uint64_t frames_probe_lost() { return frames.TakeLost(); }
void frames_probe_forget() { frames.ForgetStacks(); }
int frames_probe_module_code(uint64_t address) { return frames.AddModuleCode(address); }

int frames_probe_walk_in_thread(int with_thread_state) {
  PythonWalk walk;
  pthread_t thread;
  if (pthread_create(&thread, nullptr,
                     with_thread_state ? WalkWithThreadState : WalkWithoutThreadState,
                     &walk) != 0) {
    return -1;
  }
  pthread_join(thread, nullptr);
  return static_cast<int>(walk.why);
}

int frames_probe_read_code(uint64_t address) {
  memory.Forget();
  return ReadPythonCode(layout, &memory, address, &code);
}
const char* frames_probe_file() { return code.file; }
const char* frames_probe_name() { return code.name; }
int frames_probe_line(uint64_t code_address, uint64_t instruction) {
  const uint64_t offset_bytes = instruction - code_address - layout.code_instructions;
  return offset_bytes < code.instruction_bytes ? LineOfInstruction(code, offset_bytes) : -1;
}
int frames_probe_module_path(uint64_t root, uint64_t module, const char* around) {
  memory.Forget();
  return paths.Find(root, module, around, path) ? 1 : 0;
}
const char* frames_probe_path() { return path; }
void frames_probe_forget_modules() { paths.Forget(); }
uint32_t frames_probe_adoptions() { return paths.adoptions(); }
uint64_t frames_probe_outermost(uint64_t module) {
  memory.Forget();
  return paths.OutermostAround(module);
}
int frames_probe_class(uint64_t object, uint32_t capacity) {
  memory.Forget();
  return utlz::agent::ReadClassName(&memory, object, class_name, capacity) ? 1 : 0;
}
const char* frames_probe_class_name() { return class_name; }
uint32_t frames_probe_code_instructions() { return layout.code_instructions; }

}  // extern "C"
#pragma GCC visibility pop
