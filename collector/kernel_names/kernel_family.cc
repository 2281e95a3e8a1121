#include "collector/kernel_names/kernel_family.h"

#include "collector/kernel_names/kernel_class.h"

namespace utlz {
namespace {

struct Pattern {
  std::string_view fragment;
  KernelFamily family;
};

// Of functions whose names begin so. Compilers say there how a kernel was made: Inductor
// ("triton_poi_fused_…": element by element), XLA ("loop_…_fusion", "input_…_fusion", "wrapped_…").
constexpr Pattern kPrefixes[] = {
    {"triton_poi", KernelFamily::kElementwise},
    {"triton_tem_fused_flex_attention", KernelFamily::kAttention},
    {"triton_tem", KernelFamily::kGemm},
    {"triton_mm", KernelFamily::kGemm},
    {"gemm_fusion", KernelFamily::kGemm},
    {"triton_gemm", KernelFamily::kGemm},
    {"triton_softmax", KernelFamily::kSoftmax},
    {"wrapped_concatenate", KernelFamily::kCopy},
    {"wrapped_transpose", KernelFamily::kCopy},
    {"wrapped_copy", KernelFamily::kCopy},
    {"wrapped_slice", KernelFamily::kCopy},
    {"wrapped_gather", KernelFamily::kCopy},
    {"wrapped_scatter", KernelFamily::kCopy},
    {"wrapped_broadcast", KernelFamily::kCopy},
    {"wrapped_reduce", KernelFamily::kReduction},
    {"wrapped_", KernelFamily::kElementwise},
    {"loop_transpose_fusion", KernelFamily::kCopy},
    {"input_transpose_fusion", KernelFamily::kCopy},
    {"input_concatenate_fusion", KernelFamily::kCopy},
    {"loop_concatenate_fusion", KernelFamily::kCopy},
    {"loop_gather_fusion", KernelFamily::kCopy},
    {"input_scatter_fusion", KernelFamily::kCopy},
    {"loop_", KernelFamily::kElementwise},
    {"input_", KernelFamily::kReduction},
    {"fusion", KernelFamily::kElementwise},
};

// Anywhere in the name; the first match counts, so that what is more special comes first.
constexpr Pattern kFragments[] = {
    // What stands around cuDNN's and FlashAttention's backward pass, and only streams.
    {"dot_do_o", KernelFamily::kReduction},
    {"convert_dq", KernelFamily::kElementwise},
    {"convert_dkv", KernelFamily::kElementwise},
    // Writes of a cache and tables of positions, in names that speak of attention too.
    {"reshape_and_cache", KernelFamily::kCopy},
    {"concat_and_cache", KernelFamily::kCopy},
    {"rotary_embedding", KernelFamily::kElementwise},
    {"flash_fwd", KernelFamily::kAttention},
    {"flash_bwd", KernelFamily::kAttention},
    {"flash::", KernelFamily::kAttention},
    {"5flash", KernelFamily::kAttention},
    {"FlashAttn", KernelFamily::kAttention},
    {"flash_attn", KernelFamily::kAttention},
    {"fmha", KernelFamily::kAttention},
    {"sdpa", KernelFamily::kAttention},
    {"BatchDecodeWithPaged", KernelFamily::kAttention},
    {"BatchPrefillWith", KernelFamily::kAttention},
    {"masked_multihead", KernelFamily::kAttention},
    {"attention", KernelFamily::kAttention},
    {"Attention", KernelFamily::kAttention},
    {"attn", KernelFamily::kAttention},
    // Changes of layout around convolutions.
    {"nchwToNhwc", KernelFamily::kCopy},
    {"nhwcToNchw", KernelFamily::kCopy},
    {"nchwToFolded", KernelFamily::kCopy},
    {"nhwcToFolded", KernelFamily::kCopy},
    {"mplicitGemm", KernelFamily::kConvolution},
    {"implicit_gemm", KernelFamily::kConvolution},
    {"implicit_convolve", KernelFamily::kConvolution},
    {"winograd", KernelFamily::kConvolution},
    {"fprop", KernelFamily::kConvolution},
    {"bprop", KernelFamily::kConvolution},
    {"dgrad", KernelFamily::kConvolution},
    {"wgrad", KernelFamily::kConvolution},
    {"convol", KernelFamily::kConvolution},
    {"Convol", KernelFamily::kConvolution},
    {"conv_depthwise", KernelFamily::kConvolution},
    {"conv1d", KernelFamily::kConvolution},
    {"conv2d", KernelFamily::kConvolution},
    {"conv3d", KernelFamily::kConvolution},
    {"Conv2d", KernelFamily::kConvolution},
    {"Conv3d", KernelFamily::kConvolution},
    {"multi_tensor_apply", KernelFamily::kOptimizer},
    {"Adam", KernelFamily::kOptimizer},
    {"adamw", KernelFamily::kOptimizer},
    {"batch_norm", KernelFamily::kNormalization},
    {"batchnorm", KernelFamily::kNormalization},
    {"BatchNorm", KernelFamily::kNormalization},
    {"bn_fw", KernelFamily::kNormalization},
    {"bn_bw", KernelFamily::kNormalization},
    {"layer_norm", KernelFamily::kNormalization},
    {"layernorm", KernelFamily::kNormalization},
    {"LayerNorm", KernelFamily::kNormalization},
    {"ln_fwd", KernelFamily::kNormalization},
    {"ln_bwd", KernelFamily::kNormalization},
    {"rms_norm", KernelFamily::kNormalization},
    {"rmsnorm", KernelFamily::kNormalization},
    {"RMSNorm", KernelFamily::kNormalization},
    {"RmsNorm", KernelFamily::kNormalization},
    {"group_norm", KernelFamily::kNormalization},
    {"GroupNorm", KernelFamily::kNormalization},
    {"instance_norm", KernelFamily::kNormalization},
    {"RowwiseMoments", KernelFamily::kNormalization},
    {"max_pool", KernelFamily::kPooling},
    {"avg_pool", KernelFamily::kPooling},
    {"MaxPool", KernelFamily::kPooling},
    {"AvgPool", KernelFamily::kPooling},
    {"AveragePool", KernelFamily::kPooling},
    {"pooling", KernelFamily::kPooling},
    {"SoftMax", KernelFamily::kSoftmax},
    {"Softmax", KernelFamily::kSoftmax},
    {"softmax", KernelFamily::kSoftmax},
    {"triton_red", KernelFamily::kReduction},
    {"triton_per", KernelFamily::kReduction},
    // Parts of a product that were summed apart.
    {"splitKreduce", KernelFamily::kGemm},
    {"nvjet", KernelFamily::kGemm},
    {"gemm", KernelFamily::kGemm},
    {"Gemm", KernelFamily::kGemm},
    {"GEMM", KernelFamily::kGemm},
    {"gemv", KernelFamily::kGemm},
    {"xmma", KernelFamily::kGemm},
    {"cutlass", KernelFamily::kGemm},
    {"tensorop", KernelFamily::kGemm},
    {"matmul", KernelFamily::kGemm},
    {"Matmul", KernelFamily::kGemm},
    {"fused_moe", KernelFamily::kGemm},
    {"marlin", KernelFamily::kGemm},
    {"machete", KernelFamily::kGemm},
    {"bmm_", KernelFamily::kGemm},
    {"fpA_intB", KernelFamily::kGemm},
    {"_mm_", KernelFamily::kGemm},
    {"direct_copy_kernel", KernelFamily::kCopy},
    {"copy_kernel", KernelFamily::kCopy},
    {"FillFunctor", KernelFamily::kCopy},
    {"CatArray", KernelFamily::kCopy},
    {"indexSelect", KernelFamily::kCopy},
    {"index_elementwise", KernelFamily::kCopy},
    {"gather", KernelFamily::kCopy},
    {"scatter", KernelFamily::kCopy},
    {"transpose", KernelFamily::kCopy},
    {"copyPackedKernel", KernelFamily::kCopy},
    {"memcpy", KernelFamily::kCopy},
    {"Memcpy", KernelFamily::kCopy},
    {"memset", KernelFamily::kCopy},
    {"elementwise", KernelFamily::kElementwise},
    {"Elementwise", KernelFamily::kElementwise},
    {"act_and_mul", KernelFamily::kElementwise},
    {"doActivation", KernelFamily::kElementwise},
    {"dropout", KernelFamily::kElementwise},
    {"gelu", KernelFamily::kElementwise},
    {"silu", KernelFamily::kElementwise},
    {"rope", KernelFamily::kElementwise},
    {"quant", KernelFamily::kElementwise},
    {"reduce", KernelFamily::kReduction},
    {"Reduce", KernelFamily::kReduction},
    {"nll_loss", KernelFamily::kReduction},
    {"dot_kernel", KernelFamily::kReduction},
    {"cumsum", KernelFamily::kReduction},
    {"mma", KernelFamily::kGemm},
};

bool Begins(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

KernelFamily FamilyOf(std::string_view mangled_name) {
  if (IsCommunicationKernel(mangled_name)) return KernelFamily::kCommunication;
  for (const Pattern& pattern : kPrefixes) {
    if (Begins(mangled_name, pattern.fragment)) return pattern.family;
  }
  for (const Pattern& pattern : kFragments) {
    if (mangled_name.find(pattern.fragment) != std::string_view::npos) return pattern.family;
  }
  return KernelFamily::kOther;
}

const char* NameOf(KernelFamily family) {
  switch (family) {
    case KernelFamily::kGemm: return "gemm";
    case KernelFamily::kAttention: return "attention";
    case KernelFamily::kConvolution: return "convolution";
    case KernelFamily::kNormalization: return "normalization";
    case KernelFamily::kPooling: return "pooling";
    case KernelFamily::kSoftmax: return "softmax";
    case KernelFamily::kElementwise: return "elementwise";
    case KernelFamily::kReduction: return "reduction";
    case KernelFamily::kOptimizer: return "optimizer";
    case KernelFamily::kCopy: return "copy";
    case KernelFamily::kCommunication: return "communication";
    case KernelFamily::kOther: break;
  }
  return "other";
}

}  // namespace utlz
