// KernelCode as words of a profile, and back.
//
// The words: a layout number; the number of blocks; then each block: its counts, the numbers of
// its choices, its successors and of `joined_since`, its callee, its choices (way out, counts of
// either side), its successors, `joined_since`. Counts are in the order of their fields in
// InstructionCounts.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_PACKED_CODE_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_PACKED_CODE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collector/kernel_code/kernel_code.h"

namespace utlz {

std::vector<uint32_t> PackCode(const KernelCode& code);

// None where the words are of another layout, are cut off, or say more than code may hold. What
// successors and callees point at is not looked at: BoundFlops does.
std::optional<KernelCode> UnpackCode(uint32_t compute_capability, std::span<const uint32_t> words);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_PACKED_CODE_H_
