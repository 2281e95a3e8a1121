// DWARF expressions as far as call frame instructions use them: for functions that realign their
// stack, and for the procedure linkage table.
#ifndef UTLZ_TOOLS_ATTACH_UNWIND_FRAME_EXPRESSION_H_
#define UTLZ_TOOLS_ATTACH_UNWIND_FRAME_EXPRESSION_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "tools/attach/target/remote_memory.h"
#include "tools/attach/unwind/frame_registers.h"

namespace utlz::attach {

// The value on top of the stack at the end; `initial`, if given, lies on it at the start.
std::optional<uint64_t> EvaluateExpression(absl::Span<const uint8_t> expression,
                                           const MemoryReader& memory,
                                           const FrameRegisters& registers,
                                           std::optional<uint64_t> initial);

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_UNWIND_FRAME_EXPRESSION_H_
