#include "collector/kernel_code/instruction.h"

#include "collector/kernel_code/instruction_table.h"

namespace utlz {
namespace {

constexpr uint32_t kRegisterOfZero = 255;

// Whole opcodes of 12 bits: the operation and the form of its operands.
enum Opcode : uint32_t {
  kMoveOfConstant = 0x802,
  kMultiplyAddOfConstant = 0x424,
  kWarpSyncCollective = 0x348,
  kWait = 0x941,
  kBreak = 0x942,
  kCall = 0x944,
  kOpenBarrier = 0x945,
  kYield = 0x946,
  kBranch = 0x947,
  kWarpSync = 0x948,
  kExit = 0x94d,
  kLoadProgramCounter = 0x94e,
  kReturn = 0x950,
};

constexpr uint32_t kHalfMultiplyAdd = 0x031;
constexpr uint32_t kHalfMultiplyAddOnTensorPipe = 0x035;
constexpr uint32_t kPredicatesFromRegister = 0x004;
constexpr uint32_t kEndOfCollective = 0x11b;
constexpr uint32_t kBarrierOfBlock = 0x11d;
constexpr uint32_t kReadSpecialRegister = 0x119;
constexpr uint32_t kFirstOfWholeWarps = 0x080;
constexpr uint32_t kLastOfWholeWarps = 0x0cf;

// Operations that change where threads go lie between these, and some that do not.
constexpr uint32_t kFirstOfFlow = 0x140;
constexpr uint32_t kLastOfFlow = 0x15f;

struct Words {
  uint64_t low;
  uint64_t high;

  uint32_t Bits(int first, int count) const {
    const uint64_t word =
        first < 64 ? low >> first | (first > 0 ? high << (64 - first) : 0) : high >> (first - 64);
    return static_cast<uint32_t>(word & ((uint64_t{1} << count) - 1));
  }
  // 48 bits from bit 34 on, with a sign.
  int64_t Offset() const {
    const uint64_t bits = low >> 34 | (high & 0x3ffff) << 30;
    return static_cast<int64_t>(bits << 16) >> 16;
  }
};

// Offsets are in units of four bytes. Of branches and calls the lowest eight bits lie apart.
int64_t TargetOf(const Words& words) {
  return (words.Offset() * 256 + static_cast<int64_t>(words.Bits(16, 8))) * 4;
}

void SetFlow(const Words& words, uint32_t opcode, Instruction* instruction) {
  switch (opcode) {
    case kBranch:
      instruction->flow = Flow::kBranch;
      instruction->target = TargetOf(words);
      // A second predicate, or a question about the warp.
      instruction->second_condition = words.Bits(87, 4) != kAlwaysHolds || words.Bits(32, 2) != 0;
      return;
    case kExit:
      instruction->flow = Flow::kExit;
      instruction->second_condition = words.Bits(87, 4) != kAlwaysHolds;
      return;
    case kCall:
      instruction->flow = Flow::kCall;
      instruction->target = TargetOf(words);
      return;
    case kReturn:
      instruction->flow = Flow::kReturn;
      return;
    case kOpenBarrier:
      instruction->flow = Flow::kBarrier;
      instruction->target = words.Offset() * 4;
      instruction->barrier = static_cast<uint8_t>(words.Bits(16, 4));
      return;
    case kWait:
      instruction->flow = Flow::kWait;
      instruction->barrier = static_cast<uint8_t>(words.Bits(16, 4));
      return;
    case kWarpSyncCollective:
      instruction->flow = Flow::kCollective;
      instruction->target = TargetOf(words);
      return;
    case kWarpSync:
      instruction->flow = Flow::kTogether;
      return;
    case kYield:
    case kBreak:
    case kLoadProgramCounter:
      return;
    default:
      // Those that move barriers are in the table; the others lead to places that are computed.
      if (FindOperation(opcode & 0x1ff) == nullptr) instruction->flow = Flow::kUnfollowable;
  }
}

// The thread's own indices come by way of the loads' pipe, those of its block do not.
Pipe PipeOfSpecialRegister(uint32_t special_register) {
  if (special_register >= 0x21 && special_register <= 0x23) return Pipe::kLsu;
  if (special_register >= 0x25 && special_register <= 0x27) return Pipe::kOther;
  return Pipe::kAny;
}

InstructionCounts CountsOf(const Words& words, uint32_t operation, Operation known) {
  InstructionCounts counts;
  if (operation == kReadSpecialRegister) known.pipe = PipeOfSpecialRegister(words.Bits(72, 8));
  counts.fma = known.pipe == Pipe::kFma || known.pipe == Pipe::kFmaEither;
  counts.fp32 = known.pipe == Pipe::kFmaEither;
  counts.alu = known.pipe == Pipe::kAlu;
  counts.xu = known.pipe == Pipe::kXu;
  counts.lsu = known.pipe == Pipe::kLsu;
  counts.any_pipe = known.pipe == Pipe::kAny;
  counts.fp32_flops = known.fp32_flops;
  counts.half_flops = known.half_flops;
  // Compilers make constants by multiplying zero.
  const bool multiplies =
      operation == kHalfMultiplyAdd || operation == kHalfMultiplyAddOnTensorPipe;
  if (multiplies && words.Bits(24, 8) == kRegisterOfZero) counts.half_flops = 0;
  return counts;
}

uint8_t PredicatesWritten(const Words& words, uint32_t operation, const Operation* known,
                          bool of_flow) {
  constexpr uint8_t kAll = 0x7f;
  if (operation == kPredicatesFromRegister) return kAll;
  if (known == nullptr) return of_flow ? 0 : kAll;
  uint32_t written = 0;
  if (known->predicates > 0) written |= 1u << words.Bits(81, 3);
  if (known->predicates > 1) written |= 1u << words.Bits(84, 3);
  return static_cast<uint8_t>(written & kAll);
}

}  // namespace

Instruction DecodeInstruction(uint64_t low, uint64_t high) {
  const Words words{low, high};
  const uint32_t opcode = words.Bits(0, 12);
  const uint32_t operation = opcode & 0x1ff;
  Instruction instruction;
  instruction.guard = static_cast<uint8_t>(words.Bits(12, 3));
  instruction.guard_negated = words.Bits(15, 1) != 0;

  const bool of_flow = operation >= kFirstOfFlow && operation <= kLastOfFlow;
  if (of_flow) SetFlow(words, opcode, &instruction);

  const Operation* known = FindOperation(operation);
  if (known != nullptr) {
    instruction.counts = CountsOf(words, operation, *known);
  } else if (!of_flow) {
    instruction.counts.any_pipe = 1;
    instruction.counts.unknown = 1;
  }

  instruction.counts.all = 1;
  const bool waits = operation == kBarrierOfBlock || operation == kEndOfCollective;
  if (waits) instruction.flow = Flow::kTogether;
  instruction.of_whole_warps = operation >= kFirstOfWholeWarps && operation <= kLastOfWholeWarps;

  instruction.predicates_written = PredicatesWritten(words, operation, known, of_flow);

  if (opcode == kMoveOfConstant ||
      (opcode == kMultiplyAddOfConstant && words.Bits(24, 8) == kRegisterOfZero)) {
    instruction.sets_constant = true;
    instruction.constant = words.Bits(32, 32);
  }
  return instruction;
}

}  // namespace utlz
