#include "collector/kernel_names/kernel_class.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace utlz {
namespace {

struct NamePattern {
  std::string_view fragment;
  std::string_view meaning;
};

// Fragments of names of kernels that exchange data between devices.
constexpr std::string_view kCommunication[] = {
    "ncclDevKernel",
    "ncclKernel",
    "ncclSymk",
    "ncclSymDevKernel",
    "nvshmem",
    "nvshmemi_",
    "cross_device_reduce",
    "multimem_all_reduce",
    "multimem_one_shot",
    "two_shot_all_reduce",
    "one_shot_all_reduce",
    "allReduceKernel",
    "deep_ep",
    "oneShotAllreduce",
    "twoShotAllreduce",
};

constexpr std::string_view kXlaAutotuner[] = {"RedzoneAllocatorKernel", "DelayKernel",
                                              "xla_fp_comparison", "xla_int_comparison"};
constexpr std::string_view kMatrix[] = {
    "gemm",   "Gemm",   "GEMM",      "nvjet",     "xmma",   "cutlass", "tensorop", "sdpa",
    "fmha",   "flash",  "attention", "Attention", "attn",   "matmul",  "Matmul",   "mma",
    "convol", "Convol", "conv1d",    "conv2d",    "conv3d", "Conv1d",  "Conv2d",   "Conv3d",
    "_conv_", "wgrad",  "dgrad",     "fprop",     "bprop",  "_mm",     "_dot",
};

// Around attention's backward pass: they stream, though their names speak of products.
constexpr std::string_view kNoMatrix[] = {"dot_do_o", "convert_dq", "convert_dkv"};

constexpr std::string_view kAttention[] = {
    "flash_fwd", "flash_bwd", "flash_attn", "flash::", "fmha",
    "sdpa",      "attention", "Attention",  "attn",
};

// Conventions: cuBLAS ("ampere_sgemm_128x64_tn", "sm80_xmma_gemm_f32f32_f32f32_f32_…"), CUTLASS
// ("cutlass_80_simt_sgemm_…").
constexpr std::string_view kSinglePrecision[] = {"sgemm", "simt", "gemm_f32f32_f32f32", "ffma"};
constexpr std::string_view kNotSinglePrecision[] = {"tensorop", "tf32", "1688", "bf16", "f16"};

constexpr std::string_view kElementwise[] = {
    "elementwise", "Elementwise",
    "triton_poi",  "triton_per",
    "triton_red",  "layer_norm",
    "LayerNorm",   "RMSNorm",
    "rms_norm",    "SoftMax",
    "softmax",     "reduce_kernel",
    "CatArray",    "multi_tensor_apply",
    "FillFunctor", "copy_kernel",
    "dropout",     "gelu",
    "silu",        "rope",
};

constexpr std::string_view kTraining[] = {
    "backward", "Backward", "bprop", "_bwd", "dgrad", "wgrad", "multi_tensor_apply", "Adam",
};

// Kernels that move or set data and compute nothing but addresses.
constexpr std::string_view kDataMovement[] = {
    "CatArrayBatchedCopy",   "direct_copy_kernel",    "FillFunctor",
    "indexSelectSmallIndex", "indexSelectLargeIndex", "transpose_readWrite",
};

constexpr std::string_view kWarpMma[] = {
    "sm70_",
    "sm75_",
    "sm80_",
    "sm86_",
    "sm89_",
    "volta_",
    "turing_",
    "ampere_",
    "cutlass_70_",
    "cutlass_75_",
    "cutlass_80_",
    "pytorch_flash",
    "fmha_cutlass",
    "s16816",
    "s1688",
    "h16816",
    "i16832",
    "SM80_16x8",
    "flash_fwd_kernel",
    "flash_fwd_splitkv",
    "flash_bwd_dq_dk",
};

// What cuDNN calls hmma, in kernels for a network's first layer, is of this kind too: the pipe is
// active for twice as long in them as in wgmma.
constexpr std::string_view kNarrowMma[] = {"h1688",  "f16_s1688", "_hmma_",
                                           "i16816", "i161616",   "d884"};
constexpr std::string_view kSmallMma[] = {"i8816"};

constexpr std::string_view kWarpGroupMma[] = {"nvjet", "sm90", "Sm90",   "SM90",
                                              "gmma",  "GMMA", "hopper", "Hopper"};

constexpr NamePattern kCollectives[] = {
    {"AllReduce", "AllReduce"},
    {"ReduceScatter", "ReduceScatter"},
    {"AllGather", "AllGather"},
    {"Broadcast", "Broadcast"},
    {"SendRecv", "SendRecv"},
    {"AllToAll", "AllToAll"},
    {"Reduce", "Reduce"},
    {"all_reduce", "AllReduce"},
    {"cross_device_reduce", "AllReduce"},
    {"allReduce", "AllReduce"},
    {"Allreduce", "AllReduce"},
    {"dispatch", "Dispatch"},
    {"combine", "Combine"},
};

// The operand's data type in the names of GEMM, convolution and attention kernels, the first match
// counts. Conventions: cuBLAS and cuDNN ("sm90_xmma_gemm_bf16bf16_…"), CUTLASS
// ("cutlass_80_tensorop_bf16_s16816gemm…", type names inside mangled templates), FlashAttention and
// Triton (types in template arguments).
constexpr NamePattern kTensorTypes[] = {
    // Written out.
    {"e4m3", "fp8"},
    {"e5m2", "fp8"},
    {"float_e4m3", "fp8"},
    {"bf16bf16", "bf16"},
    {"gemm_bf16", "bf16"},
    {"tensorop_bf16", "bf16"},
    {"bf16_s16816", "bf16"},
    {"bf16_s1688", "bf16"},
    {"f16f16", "fp16"},
    {"tensorop_f16", "fp16"},
    {"tensorop_h", "fp16"},
    {"f16_s16816", "fp16"},
    {"f16_s1688", "fp16"},
    {"h16816", "fp16"},
    {"h1688", "fp16"},
    {"tf32tf32", "tf32"},
    {"tensorop_tf32", "tf32"},
    {"tf32_s1688", "tf32"},
    {"tensorop_s1688", "tf32"},
    {"s1688gemm", "tf32"},
    {"tf32f32", "tf32"},
    {"i8i8", "int8"},
    {"i8816", "int8"},
    {"i16832", "int8"},
    {"s8s8", "int8"},
    {"tensorop_d884", "fp64_tensor"},
    {"d884gemm", "fp64_tensor"},
    {"d16816gemm", "fp64_tensor"},
    {"f64f64", "fp64_tensor"},
    // Type names inside mangled templates.
    {"__nv_fp8", "fp8"},
    {"bfloat16_t", "bf16"},
    {"bfloat16", "bf16"},
    {"BFloat16", "bf16"},
    {"tfloat32", "tf32"},
    {"half_t", "fp16"},
    {"6__half", "fp16"},
    {"c10::Half", "fp16"},
    {"N3c104HalfE", "fp16"},
    {"bf16", "bf16"},
    {"fp16", "fp16"},
    {"tf32", "tf32"},
    {"fp8", "fp8"},
    {"dgemm", "fp64_tensor"},
};

// cuBLASLt's own kernels: nvjet_[sm90_]<letters>_…, the first letter being the operands' type.
constexpr std::string_view kNvjet = "nvjet_";
constexpr NamePattern kNvjetLetters[] = {
    {"t", "bf16"}, {"h", "fp16"}, {"s", "tf32"}, {"q", "fp8"}, {"d", "fp64_tensor"},
};

std::string_view NvjetDataType(std::string_view name) {
  name.remove_prefix(kNvjet.size());
  if (name.substr(0, 2) == "sm") {
    const size_t end = name.find('_');
    if (end == std::string_view::npos) return {};
    name.remove_prefix(end + 1);
  }
  for (const NamePattern& letter : kNvjetLetters) {
    if (name.substr(0, 1) == letter.fragment) return letter.meaning;
  }
  return {};
}

bool Contains(std::string_view text, std::string_view fragment) {
  return text.find(fragment) != std::string_view::npos;
}

template <size_t kCount>
bool ContainsAny(std::string_view text, const std::string_view (&fragments)[kCount]) {
  return std::any_of(std::begin(fragments), std::end(fragments),
                     [&](std::string_view fragment) { return Contains(text, fragment); });
}

// XLA names its kernels by how they are made: "loop_add_fusion", "input_reduce_fusion_2",
// "wrapped_convert"; its matrix products are "gemm_fusion_dot" and the libraries' own.
bool IsElementwiseFusion(std::string_view name) {
  const auto begins = [&](std::string_view prefix) {
    return name.substr(0, prefix.size()) == prefix;
  };
  return begins("wrapped_") || ((begins("loop_") || begins("input_")) && Contains(name, "fusion"));
}

}  // namespace

TensorInstructions TensorInstructionsOf(std::string_view mangled_name) {
  if (ContainsAny(mangled_name, kSmallMma)) return TensorInstructions::kSmallWarps;
  if (ContainsAny(mangled_name, kNarrowMma)) return TensorInstructions::kNarrowWarps;
  if (ContainsAny(mangled_name, kWarpMma)) return TensorInstructions::kWarps;
  if (ContainsAny(mangled_name, kWarpGroupMma)) return TensorInstructions::kWarpGroups;
  return TensorInstructions::kUnknown;
}

bool SpeaksOfDoubles(std::string_view demangled_name) { return Contains(demangled_name, "double"); }

bool IsProfilerKernel(std::string_view mangled_name) { return mangled_name == "WaitNs"; }

bool IsAutotunerKernel(std::string_view mangled_name) {
  return mangled_name.find("stream_executor") != std::string_view::npos &&
         ContainsAny(mangled_name, kXlaAutotuner);
}

bool IsMatrixKernel(std::string_view mangled_name) {
  return ContainsAny(mangled_name, kMatrix) && !ContainsAny(mangled_name, kNoMatrix);
}

bool IsAttentionKernel(std::string_view mangled_name) {
  return ContainsAny(mangled_name, kAttention);
}

bool IsSinglePrecisionMatrixKernel(std::string_view mangled_name) {
  return IsMatrixKernel(mangled_name) && ContainsAny(mangled_name, kSinglePrecision) &&
         !ContainsAny(mangled_name, kNotSinglePrecision);
}

bool IsTrainingKernel(std::string_view mangled_name) {
  return ContainsAny(mangled_name, kTraining);
}

bool IsElementwiseKernel(std::string_view mangled_name) {
  return ContainsAny(mangled_name, kElementwise) || IsElementwiseFusion(mangled_name);
}

bool IsDataMovementKernel(std::string_view mangled_name) {
  return ContainsAny(mangled_name, kDataMovement);
}

bool IsCommunicationKernel(std::string_view mangled_name) {
  return ContainsAny(mangled_name, kCommunication);
}

std::string_view CollectiveOf(std::string_view mangled_name) {
  for (const NamePattern& pattern : kCollectives) {
    if (Contains(mangled_name, pattern.fragment)) return pattern.meaning;
  }
  return "other";
}

bool IsOfSomeHalfType(std::string_view mangled_name) {
  return TensorDataTypeOf(mangled_name).empty() && Contains(mangled_name, "f16");
}

std::string_view TensorDataTypeOf(std::string_view mangled_name) {
  if (mangled_name.substr(0, kNvjet.size()) == kNvjet) return NvjetDataType(mangled_name);
  for (const NamePattern& pattern : kTensorTypes) {
    if (Contains(mangled_name, pattern.fragment)) return pattern.meaning;
  }
  return {};
}

}  // namespace utlz
