// The frames of an instruction of XLA: of the functions that it was traced from, of the modules
// that it belongs to, of its pass, and of itself. So launches of compiled JAX programs have stacks
// like those of eager programs.
//
// Trust: texts come from targets. Any bytes are safe; frames are bounded in number, and their texts
// are no longer than those read. Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_XLA_INSTRUCTION_FRAMES_H_
#define UTLZ_COLLECTOR_XLA_INSTRUCTION_FRAMES_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "collector/decode/stack_frame.h"

namespace utlz {

inline constexpr size_t kMostXlaOperations = 64;  // of one instruction
inline constexpr size_t kMaxXlaOperationsBytes = 512;

struct XlaInstruction {
  std::string_view title;
  std::string_view locations;
  std::string_view op_name;
};

// The outermost frame first; the last one is of the instruction itself, and always there. Where
// they are more than `most`, which is at least 1, the outermost functions are left out, and then
// the outermost of the others.
std::vector<StackFrame> FramesOfInstruction(const XlaInstruction& instruction, size_t most);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_XLA_INSTRUCTION_FRAMES_H_
