#include "collector/owners/stack_owners.h"

#include <initializer_list>
#include <string_view>

#include "collector/decode/xla_trial.h"
#include "proto/inductor_file.h"

namespace utlz {
namespace {

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Optax has functions of losses too.
bool IsOfOptax(const StackFrame& frame) {
  return Holds(frame.file, "/optax/") && !Holds(frame.file, "/optax/losses/") &&
         !Holds(frame.file, "/optax/_src/loss.py");
}

bool IsOptimizer(const StackFrame& frame) {
  return frame.kind == STACK_FRAME_OPTIMIZER ||
         (frame.kind == STACK_FRAME_FUNCTION &&
          (Holds(frame.file, "/torch/optim/") || IsOfOptax(frame)));
}

// "AdamW" of `AdamW.step`; the base class, whose functions are around that one, has no name. Optax
// makes an optimizer of several functions, none of which is called as it is.
std::string_view OptimizerOf(const StackFrame& frame) {
  constexpr std::string_view kStep = ".step";
  if (IsOfOptax(frame)) return "optax";
  const std::string_view function = frame.name;
  if (!function.ends_with(kStep)) return {};
  const std::string_view name = function.substr(0, function.size() - kStep.size());
  return name == "Optimizer" ? std::string_view() : name;
}

// Not a method, nor a function inside of another one.
bool IsFunctional(const StackFrame& frame) {
  return frame.kind == STACK_FRAME_FUNCTION && Holds(frame.file, "/torch/nn/functional.py") &&
         !frame.name.empty() && !Holds(frame.name, ".");
}

bool IsAutotuning(const StackFrame& frame) {
  if (frame.kind == STACK_FRAME_XLA_INSTRUCTION) return frame.name == kXlaTrial;
  return frame.kind == STACK_FRAME_FUNCTION && frame.name.starts_with("CachingAutotuner.bench") &&
         Holds(frame.file, "/torch/_inductor/");
}

// "loss_of" of "main.<locals>.loss_of.<locals>.<lambda>": the innermost function with a name. What
// Python calls has that of its class: "Policy.__call__". Empty at the level of a file.
std::string NamedFunctionIn(std::string_view qualified_name) {
  while (!qualified_name.empty()) {
    const size_t dot = qualified_name.rfind('.');
    const std::string_view last = qualified_name.substr(dot + 1);  // from 0 where there is none
    const std::string_view around =
        qualified_name.substr(0, dot == std::string_view::npos ? 0 : dot);
    if (last.starts_with("__") && !around.empty() && !around.ends_with('>')) {
      return std::string(qualified_name.substr(around.rfind('.') + 1));
    }
    if (!last.starts_with('<')) return std::string(last);
    qualified_name = around;
  }
  return {};
}

// The innermost frame decides: a backward pass may lie inside of a recomputation.
void SetPass(const StackFrame& frame, LayerOwner* owner) {
  if (owner->pass != LaunchPass::kForward) return;
  if (frame.kind == STACK_FRAME_BACKWARD) owner->pass = LaunchPass::kBackward;
  if (frame.kind == STACK_FRAME_RECOMPUTATION) owner->pass = LaunchPass::kRecomputation;
  if (owner->pass != LaunchPass::kForward) owner->pass_inferred = frame.inferred;
  owner->inferred = owner->pass_inferred;
}

}  // namespace

std::string NameOfNoLayer(const LayerOwner& owner) {
  if (owner.kind == "optimizer") {
    return owner.path.empty() ? "(optimizer)" : "(optimizer " + owner.path + ")";
  }
  if (owner.kind == "autotuning") return "(autotuning)";
  if (owner.kind == "function") return "(function " + owner.path + ")";
  return owner.kind == "unknown" ? "(no stack)" : "(outside of layers)";
}

const StackOwners::Traits& StackOwners::TraitsOf(uint32_t stack) {
  const uint32_t index = stacks_.FrameIndexOf(stack);
  if (index >= traits_.size()) traits_.resize(stacks_.frames().size());
  Traits& traits = traits_[index];
  if (!traits.known) {
    const StackFrame& frame = stacks_.FrameOf(stack);
    traits = {true,
              IsFramework(frame.file),
              IsOptimizer(frame),
              IsFunctional(frame),
              frame.kind == STACK_FRAME_FUNCTION && IsInductorFile(frame.file),
              IsAutotuning(frame),
              frame.kind == STACK_FRAME_FUNCTION && frame.of_xla && !IsFramework(frame.file) &&
                  !NamedFunctionIn(frame.name).empty()};
  }
  return traits;
}

LayerOwner StackOwners::LayerOf(uint32_t stack) {
  if (stack == kNoStack) return {};
  const StackFrame *layer = nullptr, *model = nullptr, *user_function = nullptr;
  bool is_optimizer = false;
  LayerOwner owner;
  std::string optimizer, function;
  for (; stack != kNoStack; stack = stacks_.ParentOf(stack)) {
    const StackFrame& frame = stacks_.FrameOf(stack);
    SetPass(frame, &owner);
    if (TraitsOf(stack).is_autotuning) {
      owner.kind = "autotuning";
      return owner;
    }
    if (TraitsOf(stack).is_optimizer) {
      is_optimizer = true;
      if (optimizer.empty()) optimizer = OptimizerOf(frame);
    }
    // The outermost one is what the program called.
    if (TraitsOf(stack).is_functional) function = frame.name;
    if (user_function == nullptr && TraitsOf(stack).is_user_function) user_function = &frame;
    if (frame.kind != STACK_FRAME_MODULE) continue;
    if (layer == nullptr) layer = &frame;
    model = &frame;
  }
  if (layer == nullptr) {
    if (function.empty() && user_function != nullptr) {
      function = NamedFunctionIn(user_function->name);
    }
    owner.kind = is_optimizer ? "optimizer" : function.empty() ? "outside" : "function";
    owner.path = is_optimizer ? optimizer : function;
    return owner;
  }
  owner.kind = "layer";
  owner.model = model->module_class;
  owner.path = layer->name;
  owner.module_class = layer->module_class;
  owner.inferred = owner.inferred || layer->inferred;
  owner.has_numbered_names = layer->of_xla;
  return owner;
}

const StackFrame* StackOwners::LineOf(uint32_t stack) {
  const StackFrame *innermost = nullptr, *compiled = nullptr;
  for (; stack != kNoStack; stack = stacks_.ParentOf(stack)) {
    const StackFrame& frame = stacks_.FrameOf(stack);
    if (frame.kind != STACK_FRAME_FUNCTION) continue;
    if (!TraitsOf(stack).is_framework) return &frame;
    if (innermost == nullptr) innermost = &frame;
    if (compiled == nullptr && TraitsOf(stack).is_compiled) compiled = &frame;
  }
  return compiled != nullptr ? compiled : innermost;
}

const StackFrame* StackOwners::CompiledFrameOf(uint32_t stack) {
  while (stack != kNoStack && !TraitsOf(stack).is_compiled) stack = stacks_.ParentOf(stack);
  return stack == kNoStack ? nullptr : &stacks_.FrameOf(stack);
}

std::string StackOwners::OperationsOf(uint32_t stack) const {
  constexpr std::string_view kBetween = ", ", kShown = " + ";
  if (stack == kNoStack || stacks_.FrameOf(stack).kind != STACK_FRAME_XLA_INSTRUCTION) return {};
  std::string text = stacks_.FrameOf(stack).name;
  for (size_t at = text.find(kBetween); at != std::string::npos; at = text.find(kBetween, at)) {
    text.replace(at, kBetween.size(), kShown);
  }
  return text;
}

bool IsFramework(const std::string& file) {
  if (file.empty() || file[0] == '<' || IsInductorFile(file)) return true;
  for (const char* package :
       {"torch", "jax", "jaxlib", "flax", "optax", "equinox", "triton", "numpy", "cupy"}) {
    for (const char* packages : {"/site-packages/", "/dist-packages/"}) {
      if (Holds(file, std::string(packages) + package + "/")) return true;
    }
  }
  // PyTorch also where it was built, and the interpreter's own library.
  for (const char* part : {"/torch/nn/modules/", "/torch/nn/functional.py", "/torch/optim/",
                           "/torch/autograd/", "/torch/utils/checkpoint.py"}) {
    if (Holds(file, part)) return true;
  }
  return Holds(file, "/lib/python3") && !Holds(file, "/site-packages/") &&
         !Holds(file, "/dist-packages/");
}

std::string LineName(const StackFrame& frame) {
  std::string name = frame.file.substr(frame.file.rfind('/') + 1);
  if (frame.line != 0) name += ":" + std::to_string(frame.line);
  return frame.name.empty() ? name : name + " " + frame.name;
}

}  // namespace utlz
