#include "inject/record/stack_resolver.h"

#include <cstring>

#include "inject/base/memory.h"
#include "inject/python/python_module.h"
#include "proto/inductor_file.h"
#include "proto/profile_fields.h"

namespace utlz::agent {
namespace {

bool EndsWith(const char* text, const char* end) {
  const size_t length = std::strlen(text), wanted = std::strlen(end);
  return length >= wanted && std::strcmp(text + length - wanted, end) == 0;
}

// The file of torch.utils.checkpoint, which does forward passes again.
constexpr char kCheckpointFile[] = "torch/utils/checkpoint.py";
// Functions in these files begin backward passes.
constexpr const char* kAutogradFiles[] = {"torch/autograd/__init__.py", "torch/autograd/graph.py"};

// In releases without the first one, the second calls modules.
bool CallsModules(const PythonCode& code) {
  return (std::strcmp(code.name, "Module._wrapped_call_impl") == 0 ||
          std::strcmp(code.name, "Module._call_impl") == 0) &&
         EndsWith(code.file, "torch/nn/modules/module.py");
}

}  // namespace

bool StackResolver::Create(const PythonLayout& layout, StringTable* strings,
                           CompiledFiles* compiled_files) {
  layout_ = layout;
  strings_ = strings;
  compiled_files_ = compiled_files;
  code_ = MapArray<PythonCode>(1);
  places_ = MapArray<Place>(kPlaces);
  classes_ = MapArray<ModuleClass>(kClasses);
  return code_ != nullptr && places_ != nullptr && classes_ != nullptr && memory_.Create() &&
         paths_.Create(layout, &memory_);
}

void StackResolver::Forget() {
  ClearArray(classes_, kClasses);
  ClearArray(places_, kPlaces);
  place_count_ = 0;
  paths_.Forget();
}

const StackResolver::Place& StackResolver::PlaceOf(const PythonFrame& frame) {
  if (place_count_ == kMostPlaces) {
    ClearArray(places_, kPlaces);
    place_count_ = 0;
  }
  auto slot = static_cast<uint32_t>(frame.instruction * 0x9E3779B97F4A7C15u >> 40) % kPlaces;
  while (places_[slot].instruction != 0 && places_[slot].instruction != frame.instruction) {
    slot = (slot + 1) % kPlaces;
  }
  if (places_[slot].instruction == 0) {
    ++place_count_;
    Read(frame, &places_[slot]);
  }
  return places_[slot];
}

void StackResolver::Read(const PythonFrame& frame, Place* place) {
  *place = {};
  place->instruction = frame.instruction;
  const uint64_t offset_bytes = frame.instruction - frame.code - layout_.code_instructions;
  if (!ReadPythonCode(layout_, &memory_, frame.code, code_) ||
      offset_bytes >= code_->instruction_bytes) {
    return;
  }
  place->is_known = true;
  place->is_module_call = CallsModules(*code_);
  place->is_checkpoint = EndsWith(code_->file, kCheckpointFile);
  place->name = strings_->Intern(code_->name);
  place->file = strings_->Intern(code_->file);
  place->line = static_cast<uint32_t>(LineOfInstruction(*code_, offset_bytes));
  if (IsInductorFile(code_->file)) compiled_files_->Add(place->file);
}

uint32_t StackResolver::AddModule(uint64_t root, uint64_t module, uint32_t parent,
                                  StackTree* tree) {
  char path[ModulePaths::kMostPathBytes];
  paths_.Find(root, module, around_, path);
  std::memcpy(around_, path, sizeof(path));
  return tree->Find(
      {parent, strings_->Intern(path), 0, ClassOf(module), 0, wire::kStackFrameModule});
}

uint32_t StackResolver::ClassOf(uint64_t module) {
  ModuleClass& known = classes_[(module * 0x9E3779B97F4A7C15u >> 40) % kClasses];
  if (known.module != module) {
    char name[ModulePaths::kMostClassBytes];
    ReadClassName(&memory_, module, name, sizeof(name));
    known = {module, strings_->Intern(name)};
  }
  return known.name;
}

uint32_t StackResolver::Resolve(const PythonStack& stack, PythonFrames* frames, StackTree* tree) {
  memory_.Forget();  // what this stack needs may be newer than what was copied for the last one
  uint32_t number = 0;
  uint64_t root = 0, last = 0;
  bool is_recomputed = false;
  around_[0] = 0;
  for (uint32_t i = stack.frame_count; i-- > 0;) {
    const PythonFrame& frame = stack.frames[i];
    const Place& place = PlaceOf(frame);
    if (place.is_module_call) frames->AddModuleCode(frame.code);
    is_recomputed = is_recomputed || place.is_checkpoint;
    if (frame.module != 0) {
      // Two functions call a module; one of them is enough.
      if (frame.module == last) continue;
      if (root == 0) root = is_recomputed ? paths_.OutermostAround(frame.module) : frame.module;
      // The model around it is not among the frames of autograd's thread.
      if (last == 0 && root != frame.module) {
        number = AddModule(root, root, number, tree);
        if (number == 0) return 0;  // the tree is full
      }
      last = frame.module;
      number = AddModule(root, frame.module, number, tree);
    } else if (place.is_known && !place.is_module_call) {
      number =
          tree->Find({number, place.name, place.file, 0, place.line, wire::kStackFrameFunction});
    } else {
      continue;
    }
    if (number == 0) return 0;  // the tree is full
  }
  return number;
}

bool StackResolver::IsRecomputation(uint32_t stack, const StackTree& tree) const {
  for (; stack != 0; stack = tree.At(stack).parent) {
    const char* const file = strings_->Text(tree.At(stack).file);
    if (EndsWith(file, kCheckpointFile)) return true;
    for (const char* autograd_file : kAutogradFiles) {
      if (EndsWith(file, autograd_file)) return false;
    }
  }
  return false;
}

uint32_t StackResolver::CompiledFrameOf(uint32_t stack, const StackTree& tree) const {
  while (stack != 0 && !IsInductorFile(strings_->Text(tree.At(stack).file))) {
    stack = tree.At(stack).parent;
  }
  return stack;
}

}  // namespace utlz::agent
