#include "collector/kernel_names/framework.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

TEST(FrameworkTest, KernelsOfPyTorch) {
  for (const char* name :
       {"_ZN2at6native53_GLOBAL__N__21739cd4_20_layer_norm_kernel_cu_9c5ada8a35Gamma",
        "void at::native::vectorized_elementwise_kernel<4>", "triton_poi_fused_gelu_3",
        "triton_per_fused_add_native_layer_norm_view_5"}) {
    EXPECT_EQ(FrameworkOf(name), Framework::kPyTorch) << name;
  }
}

TEST(FrameworkTest, KernelsOfXla) {
  for (const char* name :
       {"loop_add_fusion_18", "input_add_reduce_fusion", "gemm_fusion_dot_7", "fusion_584",
        "wrapped_subtract", "_ZN15stream_executor3gpu26RedzoneAllocatorKernelImplEPhhmPj"}) {
    EXPECT_EQ(FrameworkOf(name), Framework::kJax) << name;
  }
}

TEST(FrameworkTest, LibrariesAndOwnKernelsAreOfNone) {
  for (const char* name : {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "saxpy", "loop_kernel",
                           "input_pipeline", "my_fusion", ""}) {
    EXPECT_EQ(FrameworkOf(name), Framework::kUnknown) << name;
  }
}

}  // namespace
}  // namespace utlz
