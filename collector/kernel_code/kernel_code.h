// What a kernel's machine code says of the FLOPs of a launch: its basic blocks, what a thread does
// in each, and where it may go next. Small enough to be kept in a profile.
//
// Threads are neither made nor lost on the way through the code. Of warps the code says less: lanes
// that part go through as several warps, until they join again.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_KERNEL_CODE_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_KERNEL_CODE_H_

#include <cstdint>
#include <vector>

namespace utlz {

// A successor that is the end of the thread, or of the function that was called.
constexpr uint32_t kThreadEnds = 0xffffffff;
// `CodeBlock::callee` of a block that calls nothing.
constexpr uint32_t kCallsNothing = 0xffffffff;

// Larger code is not described.
constexpr uint32_t kMostCodeBlocks = 600;
constexpr uint32_t kMostCodeChoices = 2000;

// What one thread does by going through once.
struct InstructionCounts {
  uint32_t all = 0;   // instructions
  uint32_t fma = 0;   // of them, by the pipe whose counter counts them: the FMA pipe; of these
  uint32_t fp32 = 0;  // FP32, and what else its lite half may do: additions of integers may be that
  uint32_t alu = 0;
  uint32_t xu = 0;   // exponentials, reciprocals, conversions
  uint32_t lsu = 0;  // loads, stores, shuffles
  // Instructions that any one of these pipes may count, or none.
  uint32_t any_pipe = 0;

  uint32_t fp32_flops = 0;
  uint32_t half_flops = 0;  // of 16 bits. Moves of a constant that a multiply-add makes are none
  // Instructions that are not known: each may do up to two FP32 FLOPs, or up to four of 16 bits.
  uint32_t unknown = 0;

  InstructionCounts& operator+=(const InstructionCounts& more);
  bool operator==(const InstructionCounts&) const = default;
};

// What a choice of the thread (a predicate) has to do with the way out of its block.
enum class WayOut : uint8_t {
  kEither = 0,  // nothing
  kFirstIfHeld = 1,
  kFirstIfNot = 2,
};

// Instructions of a block whose guard is the same predicate. Warps go through all of them, threads
// take part in those of one side.
struct CodeChoice {
  InstructionCounts held;      // by threads for which the predicate holds
  InstructionCounts not_held;  // by the others
  WayOut way_out = WayOut::kEither;

  bool operator==(const CodeChoice&) const = default;
};

struct CodeBlock {
  InstructionCounts always;
  std::vector<CodeChoice> choices;
  // Indices of blocks, or kThreadEnds: one or two. Of two, the first is the branch that is taken;
  // both may be the same.
  std::vector<uint32_t> successors;
  // The block at which a function begins that each thread goes through on its way out, before its
  // successor; or kCallsNothing.
  uint32_t callee = kCallsNothing;
  // Where lanes of a warp wait for each other at the end of this block: the blocks at which that
  // began. A warp leaves this block at most as often as it went through those.
  std::vector<uint32_t> joined_since;

  bool operator==(const CodeBlock&) const = default;
};

struct KernelCode {
  uint32_t compute_capability = 0;  // 90 for 9.0
  std::vector<CodeBlock> blocks;    // threads begin at the first

  bool operator==(const KernelCode&) const = default;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_KERNEL_CODE_H_
