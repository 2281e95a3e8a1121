// The registers that unwinding a stack needs.
#ifndef UTLZ_TOOLS_ATTACH_UNWIND_FRAME_REGISTERS_H_
#define UTLZ_TOOLS_ATTACH_UNWIND_FRAME_REGISTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace utlz::attach {

// By DWARF number; registers beyond are not needed to unwind. x86-64: 0-15, and 16 is the return
// address. aarch64: x0-x30, and 31 is the stack pointer.
inline constexpr size_t kFrameRegisters = 33;
using FrameRegisters = std::array<uint64_t, kFrameRegisters>;

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_UNWIND_FRAME_REGISTERS_H_
