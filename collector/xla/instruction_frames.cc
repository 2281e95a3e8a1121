#include "collector/xla/instruction_frames.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "collector/decode/xla_trial.h"
#include "collector/xla/instruction_title.h"
#include "collector/xla/module_frames.h"
#include "collector/xla/op_name.h"
#include "collector/xla/source_locations.h"

namespace utlz {
namespace {

std::vector<StackFrame> FunctionFrames(const XlaCalls& calls) {
  std::vector<StackFrame> frames;
  for (const XlaLocation& call : calls) {
    StackFrame frame;
    frame.of_xla = true;
    frame.name = Unescaped(call.function);
    frame.file = Unescaped(call.file);
    frame.line = call.line;
    frames.push_back(std::move(frame));
  }
  return frames;
}

// Begins with what JAX calls the outermost function. Else what all op_names of the program begin
// with may be missing.
bool IsWhole(std::string_view common_name) {
  return common_name.starts_with("jit(") || common_name.starts_with("pjit(") ||
         common_name.starts_with("pmap(");
}

// What is around all operations, whose whole names stand after their locations.
XlaOpName CommonOpName(const std::vector<XlaCalls>& paths) {
  std::optional<XlaOpName> common;
  for (const XlaCalls& path : paths) {
    const std::string name = Unescaped(path.back().operation);
    if (!IsWhole(name)) continue;  // of an argument
    XlaOpName one = ParseXlaOpName(name);
    common = common.has_value() ? CommonOf(*common, one) : std::move(one);
  }
  return common.value_or(XlaOpName());
}

// Of an instruction without an op_name of its own, what those that it does have in common.
XlaOpName OpNameOf(const XlaInstruction& instruction, const XlaTitle& title,
                   const std::vector<XlaCalls>& paths) {
  if (!instruction.op_name.empty()) return ParseXlaOpName(instruction.op_name);
  if (!title.common_name.has_value()) return CommonOpName(paths);
  if (!IsWhole(*title.common_name)) return {};
  const bool is_common = std::any_of(paths.begin(), paths.end(), [](const XlaCalls& path) {
    return !path.back().operation.empty();
  });
  return is_common ? ParseXlaOpNamePrefix(*title.common_name) : ParseXlaOpName(*title.common_name);
}

// "loop_add_fusion" of "loop_add_fusion.3": what XLA calls an instruction whose operations are not
// known.
std::string WithoutNumber(std::string_view instruction) {
  std::string name(instruction.substr(0, instruction.find('.')));
  const bool is_word = std::all_of(name.begin(), name.end(), [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || letter == '-';
  });
  return is_word ? name : "";
}

// "add, tanh": in the order of the alphabet, each once. "…" stands for what is left out. Without a
// common name whole ones stand after the locations.
std::string OperationsOf(const XlaOpName& op_name, const std::vector<XlaCalls>& paths,
                         bool has_common_name) {
  std::set<std::string> operations;
  if (!op_name.operation.empty()) operations.insert(op_name.operation);
  for (const XlaCalls& path : paths) {
    if (operations.size() >= kMostXlaOperations) break;
    const std::string name = Unescaped(path.back().operation);
    std::string one = has_common_name ? XlaOperationOf(name) : ParseXlaOpName(name).operation;
    if (!one.empty()) operations.insert(std::move(one));
  }
  std::string text;
  for (const std::string& operation : operations) {
    if (text.size() + operation.size() > kMaxXlaOperationsBytes - 16) {
      return text.append(text.empty() ? "…" : ", …");
    }
    text.append(text.empty() ? "" : ", ").append(operation);
  }
  return text;
}

StackFrame InstructionFrame(const XlaTitle& title, std::string operations) {
  StackFrame frame;
  frame.kind = STACK_FRAME_XLA_INSTRUCTION;
  frame.of_xla = true;
  frame.module_class = title.instruction;
  frame.name = operations.empty() && !title.is_program ? WithoutNumber(title.instruction)
                                                       : std::move(operations);
  return frame;
}

StackFrame PassFrame(XlaPass pass) {
  StackFrame frame;
  frame.of_xla = true;
  const bool is_backward = pass == XlaPass::kBackward;
  frame.kind = is_backward ? STACK_FRAME_BACKWARD : STACK_FRAME_RECOMPUTATION;
  frame.name = is_backward ? "(backward)" : "(recomputation)";
  return frame;
}

std::vector<StackFrame> Merged(std::vector<StackFrame> functions,
                               std::vector<XlaModuleFrame> modules) {
  std::vector<StackFrame> frames;
  size_t next = 0;
  for (size_t i = 0; i <= functions.size(); ++i) {
    while (next < modules.size() && modules[next].before <= i) {
      frames.push_back(std::move(modules[next++].frame));
    }
    if (i < functions.size()) frames.push_back(std::move(functions[i]));
  }
  return frames;
}

void LeaveOut(size_t most, std::vector<StackFrame>* frames) {
  size_t excess = frames->size() - std::min(most, frames->size());
  std::erase_if(*frames, [&excess](const StackFrame& frame) {
    return frame.kind == STACK_FRAME_FUNCTION && excess > 0 && excess-- > 0;
  });
  if (excess > 0) frames->erase(frames->begin(), frames->begin() + static_cast<ptrdiff_t>(excess));
}

}  // namespace

std::vector<StackFrame> FramesOfInstruction(const XlaInstruction& instruction, size_t most) {
  const XlaTitle title = ParseXlaTitle(instruction.title);
  if (title.is_trial) return {InstructionFrame(title, kXlaTrial)};
  const std::vector<XlaCalls> paths = ParseXlaLocations(instruction.locations);
  const XlaOpName op_name = OpNameOf(instruction, title, paths);
  const std::string_view first_name = instruction.op_name.substr(0, instruction.op_name.find(';'));
  const XlaPlace place = PlaceOfOperation(paths, first_name, title.common_name);
  std::vector<StackFrame> functions = FunctionFrames(place.calls);
  std::vector<XlaModuleFrame> modules = ModulesOf(op_name.scopes, functions, place.is_own);
  std::vector<StackFrame> frames = Merged(std::move(functions), std::move(modules));
  if (op_name.pass != XlaPass::kForward) frames.push_back(PassFrame(op_name.pass));
  frames.push_back(
      InstructionFrame(title, OperationsOf(op_name, paths, title.common_name.has_value())));
  LeaveOut(most, &frames);
  return frames;
}

}  // namespace utlz
