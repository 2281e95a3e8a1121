// What is known of the operations of compute capability 9.0.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_INSTRUCTION_TABLE_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_INSTRUCTION_TABLE_H_

#include <cstdint>

namespace utlz {

// kFmaEither: in either half of the FMA pipe, as FP32 is done, or not known to be in one.
enum class Pipe : uint8_t { kOther, kFma, kFmaEither, kAlu, kXu, kLsu, kAny };

struct Operation {
  Pipe pipe;  // by the counter that counts it; kOther: none of them, kAny: not known which
  uint8_t fp32_flops;
  uint8_t half_flops;
  // Fields that name predicates as results: 2 where that is not known.
  uint8_t predicates;
};

// The lowest nine bits of an instruction are its operation, whatever its operands are. Null where
// the operation is not known.
const Operation* FindOperation(uint32_t operation);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_INSTRUCTION_TABLE_H_
