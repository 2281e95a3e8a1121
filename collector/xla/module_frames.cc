#include "collector/xla/module_frames.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace utlz {
namespace {

constexpr size_t kMostModules = 32;
constexpr std::string_view kCall = ".__call__";

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// What libraries call in between, such as `GradFn.__call__` of NNX, is no module.
bool IsBetweenModules(std::string_view file) {
  if (Holds(file, "/flax/nnx/")) return !Holds(file, "/flax/nnx/nn/");
  if (Holds(file, "-packages/equinox/")) return !Holds(file, "-packages/equinox/nn/");
  return Holds(file, "/flax/core/") || Holds(file, "/flax/training/") || Holds(file, "/jax/_src/");
}

bool CallsModule(const StackFrame& function) {
  return function.name.size() > kCall.size() && function.name.ends_with(kCall) &&
         !IsBetweenModules(function.file);
}

// "Block" of "make.<locals>.Block.__call__"
std::string ClassOf(const StackFrame& function) {
  const std::string name = function.name.substr(0, function.name.size() - kCall.size());
  return name.substr(name.rfind('.') + 1);  // from 0 where there is no dot
}

StackFrame ModuleFrame(const std::string& path, std::string module_class) {
  StackFrame frame;
  frame.kind = STACK_FRAME_MODULE;
  frame.of_xla = true;
  frame.name = path;
  frame.module_class = std::move(module_class);
  return frame;
}

// Adds modules, the outermost first. That one has no path.
class Modules {
 public:
  bool is_full() const { return modules_.size() >= kMostModules; }

  StackFrame* Add(size_t before, const std::string& name, std::string module_class) {
    const bool is_root = modules_.empty();
    if (!is_root) path_ += (path_.empty() ? "" : ".") + name;
    modules_.push_back({before, ModuleFrame(path_, std::move(module_class))});
    return &modules_.back().frame;
  }

  std::vector<XlaModuleFrame> Take() { return std::move(modules_); }

 private:
  std::vector<XlaModuleFrame> modules_;
  std::string path_;
};

// Without names.
std::vector<XlaModuleFrame> ModulesByClass(const std::vector<StackFrame>& functions,
                                           const std::vector<size_t>& calls) {
  Modules modules;
  for (const size_t call : calls) {
    if (modules.is_full()) break;
    const std::string name = ClassOf(functions[call]);
    modules.Add(call, name, name)->inferred = true;
  }
  return modules.Take();
}

}  // namespace

std::vector<XlaModuleFrame> ModulesOf(const std::vector<XlaScope>& scopes,
                                      const std::vector<StackFrame>& functions,
                                      bool functions_are_own) {
  std::vector<size_t> calls;
  for (size_t i = 0; functions_are_own && i < functions.size(); ++i) {
    if (CallsModule(functions[i])) calls.push_back(i);
  }
  if (scopes.empty()) return ModulesByClass(functions, calls);
  const auto scope_calls =
      std::count_if(scopes.begin(), scopes.end(), [](const XlaScope& one) { return one.is_call; });
  const bool has_classes = calls.size() == static_cast<size_t>(scope_calls);
  // Places of modules that no function stands for: before the next one that has a place.
  std::vector<size_t> places(scopes.size(), functions.size());
  for (size_t i = scopes.size(), call = calls.size(); has_classes && i-- > 0;) {
    places[i] = scopes[i].is_call       ? calls[--call]
                : i + 1 < scopes.size() ? places[i + 1]
                                        : functions.size();
  }
  Modules modules;
  StackFrame* module = nullptr;
  for (size_t i = 0; i < scopes.size() && !modules.is_full(); ++i) {
    const std::string& name = scopes[i].name;
    const bool has_class = has_classes && scopes[i].is_call;
    std::string module_class = has_class ? ClassOf(functions[places[i]]) : "";
    if (i == 0) {
      module = modules.Add(places[i], name, name);
    } else if (name != scopes[i - 1].name) {
      module = modules.Add(places[i], name, std::move(module_class));
    } else if (module->module_class.empty()) {
      // A method of a module calls another one of its own: its name is there once more.
      module->module_class = std::move(module_class);
    }
  }
  return modules.Take();
}

}  // namespace utlz
