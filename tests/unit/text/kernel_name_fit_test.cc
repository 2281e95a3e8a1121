#include "collector/text/kernel_name_fit.h"

#include <gtest/gtest.h>

#include "collector/text/shown_text.h"

namespace utlz {
namespace {

TEST(KernelNameFitTest, AShortNameStaysAsItIs) {
  EXPECT_EQ(FitKernelName("fusion_584", 26), "fusion_584");
  EXPECT_EQ(FitKernelName("softmax<float> [8,1,1] #2", 26), "softmax<float> [8,1,1] #2");
}

// Names of an H200's recordings, in the 26 columns that a report of 80 has for them.
TEST(KernelNameFitTest, OperationsTellTemplatesApart) {
  EXPECT_EQ(FitKernelName("multi_tensor<FusedAdamMathFunctor<float>, float, double, bool, float> "
                          "[320,1,1]",
                          26),
            "…<FusedAdamMath> [320,1,1]");
  EXPECT_EQ(FitKernelName("multi_tensor<UnaryOpFunctor<float>, Sqrt<float>> [192,1,1]", 28),
            "multi_tensor<Sqrt> [192,1,1]");
  EXPECT_EQ(FitKernelName("multi_tensor<TensorListScalarListMetadata<float>, "
                          "PointwiseOpScalarListFunctor<float>, divide… [320,1,1]",
                          26),
            "…<divide> [320,1,1]");
  EXPECT_EQ(FitKernelName("multi_tensor<TensorListScalarListMetadata<float>, "
                          "BinaryOpScalarListFunctor<float>, divides<f… [192,1,1]",
                          26),
            "…<divides> [192,1,1]");
  EXPECT_EQ(
      FitKernelName("elementwise<BinaryFunctor<BFloat16, MulFunctor<float>>(int)> [4,1,1]", 26),
      "elementwise<Mul> [4,1,1]");
  EXPECT_EQ(FitKernelName("vectorized<GeluCUDAKernelImpl(BFloat16)> [32768,1,1] #1", 26),
            "vectorized<Gelu> #1");
  EXPECT_EQ(FitKernelName("ncclDevKernel_AllReduce_Sum_bf16_RING_LL [8,4,2], GPU 3", 26),
            "ncclDevKerne…ING_LL, GPU 3");
}

TEST(KernelNameFitTest, TypesAndCommonWordsGoBeforeTheMiddle) {
  EXPECT_EQ(
      FitKernelName("cunn_SoftMaxForwardReg<BFloat16, float, SoftMaxForwardEpilogue, long>", 26),
      "cunn_SoftMaxForwardReg");
  EXPECT_EQ(FitKernelName("batch_norm_backward_reduce_channels_last_kernel<BFloat16, float> "
                          "[8,128,1] kind 3",
                          26),
            "batch_norm_b…reduce kind 3");
  EXPECT_EQ(FitKernelName("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT kind 2", 26),
            "nvjet…256x12…as_TNT kind 2");
  const std::string forward =
      FitKernelName("sdpa_sm90_flash_fprop_wgmma_f16_knob_3_64x64x64_4x1x1_cga1x1x1_kernel0_0", 26);
  const std::string backward = FitKernelName(
      "sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x64_1x4x1_cga1x1x1_kernel0_0", 26);
  EXPECT_EQ(forward, "sdpa_sm90_flash_f…64_4x1x1");
  EXPECT_EQ(backward, "sdpa_sm90_flash_b…64_1x4x1");
}

TEST(KernelNameFitTest, NoNameIsWiderThanItsColumn) {
  for (const char* name :
       {"multi_tensor<FusedAdamMathFunctor<float>, float> [320,1,1] kind 2", "Kernel<>", "<<<>>>",
        "vectorized<float, float, float, float>", "] [ #] [", "äöüäöüäöüäöüäöüäöüäöüäöü #2",
        "batch_norm_kernel_kernel_kernel0_0", "nvjet_sm90_tst_"}) {
    for (size_t columns = 0; columns < 40; ++columns) {
      EXPECT_LE(ColumnsOf(FitKernelName(name, columns)), columns) << name;
    }
  }
}

}  // namespace
}  // namespace utlz
