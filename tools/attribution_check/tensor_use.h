// What a function's name says about its use of the tensor cores.
#ifndef UTLZ_TOOLS_ATTRIBUTION_CHECK_TENSOR_USE_H_
#define UTLZ_TOOLS_ATTRIBUTION_CHECK_TENSOR_USE_H_

#include <string>

namespace utlz {

// FLOPs of an active tensor-pipe cycle relative to 16-bit inputs: 1 for bf16 and fp16, 2 for 8-bit,
// 0.5 for tf32. 0 for functions that are known not to multiply matrices: the pipe's activity
// counter also moves for other instructions that it executes.
double TensorRate(const std::string& mangled_name);

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTRIBUTION_CHECK_TENSOR_USE_H_
