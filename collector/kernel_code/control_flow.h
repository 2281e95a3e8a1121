// The basic blocks of a kernel's code and the ways between them.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_CONTROL_FLOW_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_CONTROL_FLOW_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/kernel_code/instruction.h"
#include "collector/kernel_code/kernel_code.h"

namespace utlz {

struct BasicBlock {
  uint32_t first = 0;  // instructions [first, end)
  uint32_t end = 0;
  std::vector<uint32_t> successors = {};  // as in CodeBlock
  uint32_t callee = kCallsNothing;
  // Lanes of a warp that came through apart may go on together.
  bool lanes_may_join = false;
  std::vector<uint32_t> joined_since = {};  // as in CodeBlock
};

// The blocks, in the code's order, that threads can reach from the first instruction. Absent where
// the code does not tell where threads go.
std::optional<std::vector<BasicBlock>> FindBlocks(const std::vector<Instruction>& code);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_CONTROL_FLOW_H_
