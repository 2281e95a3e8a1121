#include "collector/run/stack_owners.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace utlz {
namespace {

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool IsOptimizer(const StackFrame& frame) {
  return frame.kind == STACK_FRAME_OPTIMIZER ||
         (frame.kind == STACK_FRAME_FUNCTION && Holds(frame.file, "/torch/optim/"));
}

}  // namespace

std::string PatternOf(const std::string& path) {
  std::string pattern;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view component = std::string_view(path).substr(begin, end - begin);
    const bool is_number =
        !component.empty() && component.find_first_not_of("0123456789") == std::string_view::npos;
    if (begin > 0) pattern += '.';
    pattern += is_number ? "*" : component;
    begin = end + 1;
  }
  return pattern;
}

LayerOwner LayerOf(const StackTable& stacks, uint32_t stack) {
  LayerOwner owner;
  bool is_optimizer = false;
  if (stack != kNoStack) owner.kind = "outside";
  for (; stack != kNoStack; stack = stacks.ParentOf(stack)) {
    const StackFrame& frame = stacks.FrameOf(stack);
    is_optimizer = is_optimizer || IsOptimizer(frame);
    if (frame.kind != STACK_FRAME_MODULE) continue;
    if (owner.kind != "layer") {
      owner = {"layer", frame.module_class, frame.name, frame.module_class, frame.inferred};
    }
    owner.model = frame.module_class;
  }
  if (owner.kind == "outside" && is_optimizer) owner.kind = "optimizer";
  return owner;
}

bool IsFramework(const std::string& file) {
  if (file.empty() || file[0] == '<') return true;
  for (const char* package : {"torch", "jax", "jaxlib", "flax", "triton", "numpy", "cupy"}) {
    for (const char* packages : {"/site-packages/", "/dist-packages/"}) {
      if (Holds(file, std::string(packages) + package + "/")) return true;
    }
  }
  // PyTorch also where it was built, and the interpreter's own library.
  for (const char* part : {"/torch/nn/modules/", "/torch/nn/functional.py", "/torch/optim/"}) {
    if (Holds(file, part)) return true;
  }
  return Holds(file, "/lib/python3") && !Holds(file, "/site-packages/") &&
         !Holds(file, "/dist-packages/");
}

const StackFrame* LineOf(const StackTable& stacks, uint32_t stack) {
  const StackFrame* innermost = nullptr;
  for (; stack != kNoStack; stack = stacks.ParentOf(stack)) {
    const StackFrame& frame = stacks.FrameOf(stack);
    if (frame.kind != STACK_FRAME_FUNCTION) continue;
    if (!IsFramework(frame.file)) return &frame;
    if (innermost == nullptr) innermost = &frame;
  }
  return innermost;
}

std::string LineName(const StackFrame& frame) {
  std::string name = frame.file.substr(frame.file.rfind('/') + 1);
  if (frame.line != 0) name += ":" + std::to_string(frame.line);
  return frame.name.empty() ? name : name + " " + frame.name;
}

}  // namespace utlz
