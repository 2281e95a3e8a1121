// Families of kernels by names as libraries and compilers make them: of recorded profiles, and of
// their documentation.
#include "collector/kernel_names/kernel_family.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "collector/kernel_names/kernel_class.h"

namespace utlz {
namespace {

struct Named {
  const char* name;
  KernelFamily family;
};

constexpr Named kNames[] = {
    // cuBLAS, cuBLASLt
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT", KernelFamily::kGemm},
    {"_ZN8cublasLt19splitKreduce_kernelILi32ELi16Eif13__nv_bfloat16fS1_Lb0EfS1_EE",
     KernelFamily::kGemm},
    {"ampere_sgemm_128x64_tn", KernelFamily::kGemm},
    {"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32", KernelFamily::kGemm},
    {"_Z17gemv2T_kernel_valIiifffLi128ELi16ELi4ELi4ELb0ELb0E", KernelFamily::kGemm},
    {"_ZN7cutlass7Kernel2I66cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x4_tn_align8EEv",
     KernelFamily::kGemm},
    // cuDNN, CUTLASS for convolutions
    {"sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize64x128x64",
     KernelFamily::kConvolution},
    {"sm90_xmma_wgrad_indexed_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize256x64x64",
     KernelFamily::kConvolution},
    {"_ZN17cutlass__5x_cudnn6KernelI72cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64EE",
     KernelFamily::kConvolution},
    {"_ZN17cutlass__5x_cudnn6KernelINS_4conv6kernel23ImplicitGemmConvolutionEEE",
     KernelFamily::kConvolution},
    {"_ZN5cudnn3ops16nchwToNhwcKernelI6__halfS2_fLb0ELb1EE", KernelFamily::kCopy},
    {"_ZN5cudnn9bn_fw_tr_1C11_kernel_NCHWIffLi512ELb1ELi1EEE", KernelFamily::kNormalization},
    // attention
    {"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x64_1x4x1",
     KernelFamily::kAttention},
    {"cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_3_64x64x64",
     KernelFamily::kAttention},
    {"_ZN5cudnn6fusion28compute_dot_do_o_specializedILb1ELi64EEEvPKvS3_PvS4_",
     KernelFamily::kReduction},
    {"_ZN5cudnn6fusion20convert_dq_to_16bitsILb1EEEvPKvPv", KernelFamily::kElementwise},
    {"_ZN5flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi64ELi128ELi128EEEv",
     KernelFamily::kAttention},
    {"_ZN5flash27flash_bwd_convert_dq_kernelI23Flash_bwd_kernel_traitsEEv",
     KernelFamily::kElementwise},
    {"fmha_cutlassF_bf16_aligned_64x128_rf_sm80", KernelFamily::kAttention},
    {"_ZN4vllm25paged_attention_v2_kernelIttLi128ELi16ELi128EEEv", KernelFamily::kAttention},
    {"kernel_unified_attention_2d", KernelFamily::kAttention},
    {"_ZN4vllm30reshape_and_cache_flash_kernelIttEEv", KernelFamily::kCopy},
    {"_ZN4vllm23rotary_embedding_kernelIN3c108BFloat16ELb1EEEv", KernelFamily::kElementwise},
    {"_ZN12tensorrt_llm7kernels24masked_multihead_attention_kernelEv", KernelFamily::kAttention},
    // PyTorch
    {"_ZN2at6native50batch_norm_collect_statistics_channels_last_kernelINS0_3VarEN3c108BFloat16E",
     KernelFamily::kNormalization},
    {"_ZN2at6native53_GLOBAL__N__21739cd4_20_layer_norm_kernel_cu_9c5ada8a28vectorized_layer_norm",
     KernelFamily::kNormalization},
    {"_ZN2at6native52_GLOBAL__N__e57809e0_19_DilatedMaxPool2d_cu_6258b57422max_pool_backward_nhwc",
     KernelFamily::kPooling},
    {"_ZN2at6native43_GLOBAL__N__b6de9c8c_10_SoftMax_cu_9f978f6320cunn_SoftMaxBackwardILi4Efff",
     KernelFamily::kSoftmax},
    {"_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_15CUDAFunctor_addIN3c108BFloat16EEE",
     KernelFamily::kElementwise},
    {"_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaERNS_18Tensor",
     KernelFamily::kCopy},
    {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEEE",
     KernelFamily::kCopy},
    {"_ZN2at6native40_GLOBAL__N__0f1a8107_8_Shape_cu_49f7391c30CatArrayBatchedCopy_vectorized",
     KernelFamily::kCopy},
    {"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4E",
     KernelFamily::kReduction},
    {"_ZN2at6native52_GLOBAL__N__c815dac0_19_fused_adamw_impl_cu_8b44fa2325multi_tensor_apply",
     KernelFamily::kOptimizer},
    {"_ZN2at6native59_GLOBAL__N__4b0cc4ca_26_EmbeddingBackwardKernel_cu_5d1cf09b19compute_grad",
     KernelFamily::kOther},
    // Inductor
    {"triton_poi_fused_add_native_layer_norm_3", KernelFamily::kElementwise},
    {"triton_red_fused_native_layer_norm_backward_7", KernelFamily::kNormalization},
    {"triton_per_fused__softmax_2", KernelFamily::kSoftmax},
    {"triton_red_fused_sum_4", KernelFamily::kReduction},
    {"triton_tem_fused_mm_1", KernelFamily::kGemm},
    {"triton_tem_fused_flex_attention_0", KernelFamily::kAttention},
    // XLA
    {"gemm_fusion_dot_61", KernelFamily::kGemm},
    {"loop_convert_multiply_fusion_5", KernelFamily::kElementwise},
    {"input_add_reduce_fusion_10", KernelFamily::kReduction},
    {"loop_transpose_fusion_21", KernelFamily::kCopy},
    {"wrapped_concatenate_11", KernelFamily::kCopy},
    {"wrapped_convert", KernelFamily::kElementwise},
    {"fusion_584", KernelFamily::kElementwise},
    {"_ZN15stream_executor3gpu26RedzoneAllocatorKernelImplEPhhmPj", KernelFamily::kOther},
    // vLLM, TensorRT-LLM
    {"_ZN4vllm21rms_norm_kernelIN3c108BFloat16EEEv", KernelFamily::kNormalization},
    {"_ZN4vllm18act_and_mul_kernelIN3c108BFloat16EEEv", KernelFamily::kElementwise},
    {"fused_moe_kernel", KernelFamily::kGemm},
    {"_ZN6marlin6MarlinIN3c104HalfELi256EEEv", KernelFamily::kGemm},
    {"_ZN12tensorrt_llm7kernels20generalRmsNorm", KernelFamily::kNormalization},
    // communication
    {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", KernelFamily::kCommunication},
    {"_ZN4vllm24cross_device_reduce_1stageI6__halfLi8EEEv", KernelFamily::kCommunication},
};

TEST(KernelFamilyTest, IsToldByNamesAsTheyAre) {
  for (const Named& named : kNames) {
    EXPECT_STREQ(NameOf(FamilyOf(named.name)), NameOf(named.family)) << named.name;
  }
}

TEST(KernelFamilyTest, EachHasANameOfItsOwn) {
  std::set<std::string> names;
  for (int i = 0; i < kKernelFamilies; ++i) names.insert(NameOf(static_cast<KernelFamily>(i)));
  EXPECT_EQ(names.size(), static_cast<size_t>(kKernelFamilies));
}

TEST(KernelFamilyTest, WhatStreamsBesideAttentionIsNoMatrixKernel) {
  EXPECT_FALSE(IsMatrixKernel("_ZN5cudnn6fusion28compute_dot_do_o_specializedILb1ELi64EEEvPKv"));
  EXPECT_FALSE(IsMatrixKernel("_ZN5flash27flash_bwd_convert_dq_kernelI23Flash_bwd_kernel"));
  EXPECT_TRUE(IsMatrixKernel("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16"));
}

}  // namespace
}  // namespace utlz
