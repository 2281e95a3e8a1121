// From machine code to what it says of FLOPs.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_DESCRIBE_CODE_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_DESCRIBE_CODE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collector/kernel_code/kernel_code.h"

namespace utlz {

// The code of a kernel, as it lies in a cubin.
struct MachineCode {
  std::string_view bytes;
  // Where in it the loader puts addresses in, in any order.
  std::vector<uint64_t> relocated = {};
};

// Absent where threads may go on to a place that is not in the code or not known, such as a
// function of another file or one chosen by a pointer; where the code is too large (1 MiB,
// kMostCodeBlocks, kMostCodeChoices); and for compute capabilities other than 9.0.
std::optional<KernelCode> DescribeCode(const MachineCode& code, int compute_capability);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_DESCRIBE_CODE_H_
