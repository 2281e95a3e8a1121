// What a kernel's name says about it: communication or not, and the data type that its tensor
// operations work on. Names are conventions of libraries, so everything derived from them is marked
// as assumed in the summary; counters by data type (user ranges) take precedence.
#ifndef UTLZ_COLLECTOR_KERNEL_NAMES_KERNEL_CLASS_H_
#define UTLZ_COLLECTOR_KERNEL_NAMES_KERNEL_CLASS_H_

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

// Which instructions feed the tensor pipe, as far as the name tells.
enum class TensorInstructions {
  kUnknown,
  kWarpGroups,   // wgmma
  kWarps,        // mma.sync, as libraries for Ampere and before have them
  kNarrowWarps,  // mma.sync of half the depth: m16n8k8 of 16-bit floats, m16n8k16 of bytes
  kSmallWarps,   // of half the depth and half the height: m8n8k16 of bytes
};
TensorInstructions TensorInstructionsOf(std::string_view mangled_name);

// Whether the name speaks of 64-bit floats.
bool SpeaksOfDoubles(std::string_view demangled_name);

// Whether it is a kernel that CUPTI itself launches, at the ends of a range.
bool IsProfilerKernel(std::string_view mangled_name);

// Whether it is one of those that XLA launches around variants of a kernel that it tries.
bool IsAutotunerKernel(std::string_view mangled_name);

// Whether the name speaks of matrix products: GEMM, convolution, attention.
bool IsMatrixKernel(std::string_view mangled_name);

// Whether the name speaks of attention: scores and weighted values, fused.
bool IsAttentionKernel(std::string_view mangled_name);

// Whether the name speaks of matrix products of FP32 without tensor cores.
bool IsSinglePrecisionMatrixKernel(std::string_view mangled_name);

// Whether the name speaks of element-by-element work, which compilers can fuse.
bool IsElementwiseKernel(std::string_view mangled_name);

// Whether the name speaks of a backward pass or an optimizer: such programs learn.
bool IsTrainingKernel(std::string_view mangled_name);

// Whether the name speaks of copies, fills and gathers: their FMA instructions compute addresses.
bool IsDataMovementKernel(std::string_view mangled_name);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_NAMES_KERNEL_CLASS_H_
