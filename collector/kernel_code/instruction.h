// One machine instruction of compute capability 9.0: which counter counts it, what it computes, and
// how threads go on from it.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_INSTRUCTION_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_INSTRUCTION_H_

#include <cstdint>

#include "collector/kernel_code/kernel_code.h"

namespace utlz {

constexpr uint32_t kInstructionBytes = 16;

// Predicates 0 to 6; 7 always holds.
constexpr uint8_t kAlwaysHolds = 7;

enum class Flow : uint8_t {
  kNext,
  kBranch,       // to `target`
  kExit,         // the thread ends
  kCall,         // `target`, which returns by an address in a register
  kReturn,       // to where it was called from
  kBarrier,      // opens a region of threads that wait for each other at `target`
  kWait,         // closes it
  kCollective,   // a part that threads go through together, until `target`
  kTogether,     // waits for other threads, and goes on
  kUnfollowable  // where threads go next is not in the code, or not known
};

struct Instruction {
  InstructionCounts counts;  // of a thread whose guard holds

  // The predicate by which threads take part, and whether it must not hold. Of instructions of
  // whole warps it is another sort of predicate.
  uint8_t guard = kAlwaysHolds;
  bool guard_negated = false;
  bool of_whole_warps = false;
  // Predicates that it may change, a bit each.
  uint8_t predicates_written = 0;

  Flow flow = Flow::kNext;
  bool second_condition = false;  // branches and exits that also depend on something else
  int64_t target = 0;             // bytes from the end of this instruction
  uint8_t barrier = 0;            // of kBarrier and kWait

  // Moves of a constant to a register.
  bool sets_constant = false;
  uint32_t constant = 0;
};

// `low` and `high` are the first and the second eight bytes. Any bytes decode to something: what is
// not known counts as unknown.
Instruction DecodeInstruction(uint64_t low, uint64_t high);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_INSTRUCTION_H_
