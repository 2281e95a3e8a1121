// Runs a function's call frame instructions (DWARF 5, section 6.4): from the registers inside the
// function to those of its caller.
#ifndef UTLZ_TOOLS_ATTACH_UNWIND_FRAME_PROGRAM_H_
#define UTLZ_TOOLS_ATTACH_UNWIND_FRAME_PROGRAM_H_

#include <cstdint>
#include <optional>

#include "tools/attach/target/remote_memory.h"
#include "tools/attach/unwind/frame_description.h"
#include "tools/attach/unwind/frame_registers.h"

namespace utlz::attach {

struct CallerFrame {
  FrameRegisters registers;
  // Absent where the function has no caller: a thread's or a program's first one.
  std::optional<uint64_t> return_address;
};

// `stack_register` is the stack pointer's DWARF number. Absent where the instructions are
// malformed or of a kind that is not written by common compilers, or where memory is unreadable.
std::optional<CallerFrame> UnwindFrame(const MemoryReader& memory,
                                       const FrameDescription& description, uint64_t code_address,
                                       const FrameRegisters& registers, size_t stack_register);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_UNWIND_FRAME_PROGRAM_H_
