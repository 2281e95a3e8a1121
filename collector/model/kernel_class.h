// What a kernel's name says about it: communication or not, and the data type that its tensor
// operations work on. Names are conventions of libraries, so everything derived from them is marked
// as assumed in the summary; counters by data type (user ranges) take precedence.
#ifndef UTLZ_COLLECTOR_MODEL_KERNEL_CLASS_H_
#define UTLZ_COLLECTOR_MODEL_KERNEL_CLASS_H_

#include <string_view>

namespace utlz {

// Kernels of NCCL, NVSHMEM and of frameworks' own collectives, which wait for other devices.
bool IsCommunicationKernel(std::string_view mangled_name);

// The collective that a communication kernel carries out ("AllReduce", …); "other" where its name
// does not tell.
std::string_view CollectiveOf(std::string_view mangled_name);

// Data type of the tensor operations ("bf16", "fp16", "tf32", "fp8", "int8", "fp64_tensor") as
// DevicePeaks names it; empty where the name does not tell.
std::string_view TensorDataTypeOf(std::string_view mangled_name);

// Whether the name says 16-bit floats and leaves open which: cuDNN's attention says "f16" for both.
bool IsOfSomeHalfType(std::string_view mangled_name);

// Whether the name speaks of tensor instructions that a warp issues for itself (mma.sync, as libraries
// for Ampere and before have them), not of a warp group's (wgmma).
bool UsesWarpMma(std::string_view mangled_name);

// Whether the name tells that it is a warp group that issues tensor instructions (wgmma).
bool UsesWarpGroupMma(std::string_view mangled_name);

// Whether it is a kernel that CUPTI itself launches, at the ends of a range.
bool IsProfilerKernel(std::string_view mangled_name);

// Whether the name speaks of matrix products: GEMM, convolution, attention.
bool IsMatrixKernel(std::string_view mangled_name);

// Whether the name speaks of attention: scores and weighted values, fused.
bool IsAttentionKernel(std::string_view mangled_name);

// Whether the name speaks of matrix products of FP32 without tensor cores.
bool IsSinglePrecisionMatrixKernel(std::string_view mangled_name);

// Whether the name speaks of element-by-element work, which compilers can fuse.
bool IsElementwiseKernel(std::string_view mangled_name);

// Whether the name speaks of copies, fills and gathers: their FMA instructions compute addresses.
bool IsDataMovementKernel(std::string_view mangled_name);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_KERNEL_CLASS_H_
