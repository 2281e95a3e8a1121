// One frame of the stack of a launch, as values.
#ifndef UTLZ_COLLECTOR_DECODE_STACK_FRAME_H_
#define UTLZ_COLLECTOR_DECODE_STACK_FRAME_H_

#include <cstdint>
#include <string>

#include "proto/profile.pb.h"

namespace utlz {

struct StackFrame {
  StackFrameKind kind = STACK_FRAME_FUNCTION;
  bool inferred = false;
  // Made of what XLA says of an instruction, and not a frame of the launching thread.
  bool of_xla = false;
  // Of a function, or the path of a module. Of an instruction of XLA its operations: "add, tanh".
  std::string name;
  std::string file;
  std::string module_class;  // of an instruction of XLA its own name: "loop_add_fusion.3"
  uint32_t line = 0;         // 0: not known
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DECODE_STACK_FRAME_H_
