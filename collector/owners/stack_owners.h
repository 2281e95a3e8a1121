// Whose a launch is, by its stack: the innermost layer of the model, and the innermost line of the
// program that is not in the framework itself.
#ifndef UTLZ_COLLECTOR_OWNERS_STACK_OWNERS_H_
#define UTLZ_COLLECTOR_OWNERS_STACK_OWNERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/run/stack_table.h"

namespace utlz {

enum class LaunchPass {
  kForward,  // or of no pass: whatever is not known to be of another one
  kBackward,
  kRecomputation,  // a forward pass that is done again for the backward pass
};

// Names are those of the target: not escaped, and of any bytes.
struct LayerOwner {
  // `layer`; `optimizer`, `function` (of torch.nn.functional's, or that JAX compiled) and `outside`
  // for work of no layer; `autotuning` where a compiler tries variants of a kernel; `unknown`
  // without a stack.
  std::string kind = "unknown";
  std::string model;  // class of the outermost module
  // Empty for the outermost module itself; of an optimizer its class or its library, of a function
  // its name.
  std::string path;
  std::string module_class;
  LaunchPass pass = LaunchPass::kForward;
  bool inferred = false;       // the layer, or where the pass belongs
  bool pass_inferred = false;  // the latter, so that the line is inferred too
  // Names of modules end in a number where there are several: "block_3", as Flax has them.
  bool has_numbered_names = false;
};

// Remembers what files are, so that many stacks of long paths take little time. Thread safety:
// none.
class StackOwners {
 public:
  // `stacks` outlives it, and may grow.
  explicit StackOwners(const StackTable& stacks) : stacks_(stacks) {}

  LayerOwner LayerOf(uint32_t stack);
  // The frame whose line a launch is charged to; null where the stack has no function. Valid until
  // the table grows, as is the next one.
  const StackFrame* LineOf(uint32_t stack);
  // The innermost frame in a file that Inductor generated; null where there is none.
  const StackFrame* CompiledFrameOf(uint32_t stack);
  // "add + tanh", where XLA told of the instruction that was launched; else empty.
  std::string OperationsOf(uint32_t stack) const;

 private:
  struct Traits {
    bool known = false;
    bool is_framework = false;
    bool is_optimizer = false;
    bool is_functional = false;     // of torch.nn.functional
    bool is_compiled = false;       // of a file of Inductor's
    bool is_autotuning = false;     // where Inductor tries variants of a kernel
    bool is_user_function = false;  // that JAX traced, and that has a name
  };
  const Traits& TraitsOf(uint32_t stack);

  const StackTable& stacks_;
  std::vector<Traits> traits_;  // by frame
};

// Whether a file is of the framework, of its compiler or of the interpreter, and no place that its
// user changes.
bool IsFramework(const std::string& file);

// "(optimizer AdamW)", "(function cross_entropy)", "(autotuning)", "(no stack)" or "(outside of
// layers)": of an owner that is no layer.
std::string NameOfNoLayer(const LayerOwner& owner);

// `model.py:41 Block.forward`
std::string LineName(const StackFrame& frame);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_OWNERS_STACK_OWNERS_H_
