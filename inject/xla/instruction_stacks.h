// Stacks that end in an instruction of XLA.
#ifndef UTLZ_INJECT_XLA_INSTRUCTION_STACKS_H_
#define UTLZ_INJECT_XLA_INSTRUCTION_STACKS_H_

#include <cstdint>

#include "inject/base/stacks_by_hash.h"

namespace utlz::agent {

struct InstructionStack {
  uint64_t outer = 0;  // hash of the thread's other frames, 0 = none
  uint32_t instruction = 0;

  bool operator==(const InstructionStack&) const = default;
  // Never 0.
  uint64_t Hash() const {
    uint64_t hash = (outer ^ instruction) * 0x9E3779B97F4A7C15u;
    hash = (hash ^ hash >> 29 ^ instruction) * 0xC2B2AE3D27D4EB4Fu;
    hash ^= hash >> 32;
    return hash != 0 ? hash : 1;
  }
};

using InstructionStacks = StacksByHash<InstructionStack>;

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_XLA_INSTRUCTION_STACKS_H_
