// Operations in names as Inductor and XLA make them.
#include "collector/kernel_names/fused_operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace utlz {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FusedOperationsTest, AreThoseThatInductorFused) {
  EXPECT_THAT(FusedOperationsOf("triton_poi_fused_add_relu_3"), ElementsAre("add", "relu"));
  EXPECT_THAT(FusedOperationsOf("triton_red_fused_sum_4"), ElementsAre("sum"));
  EXPECT_THAT(FusedOperationsOf("triton_tem_fused_mm_1"), ElementsAre("mm"));
}

TEST(FusedOperationsTest, NamesOfSeveralWordsAreOneOperation) {
  EXPECT_THAT(FusedOperationsOf("triton_poi_fused__to_copy_copy_full_like_slice_scatter_where_6"),
              ElementsAre("_to_copy", "copy", "full_like", "slice_scatter", "where"));
  EXPECT_THAT(FusedOperationsOf("triton_poi_fused__to_copy__unsafe_view_add_mul_"
                                "native_dropout_backward_pow_tanh_tanh_backward_view_6"),
              ElementsAre("_to_copy", "_unsafe_view", "add", "mul", "native_dropout_backward",
                          "pow", "tanh", "tanh_backward", "view"));
  EXPECT_THAT(FusedOperationsOf("triton_per_fused__softmax__to_copy_bitwise_and_cat_exp_expand_le_"
                                "prepare_softmax_online_scalar_tensor_sub_14"),
              ElementsAre("_softmax", "_to_copy", "bitwise_and", "cat", "exp", "expand", "le",
                          "prepare_softmax_online", "scalar_tensor", "sub"));
  EXPECT_THAT(FusedOperationsOf("triton_red_fused_native_layer_norm_backward_7"),
              ElementsAre("native_layer_norm_backward"));
  EXPECT_THAT(FusedOperationsOf("triton_poi_fused_max_pool2d_with_indices_relu_0"),
              ElementsAre("max_pool2d_with_indices", "relu"));
  EXPECT_THAT(FusedOperationsOf("triton_per_fused__softmax_backward_data_mul_9"),
              ElementsAre("_softmax_backward_data", "mul"));
}

TEST(FusedOperationsTest, WordsThatAreNotKnownAreOperationsOfTheirOwn) {
  EXPECT_THAT(FusedOperationsOf("triton_poi_fused_my_thing_backward__own_add_2"),
              ElementsAre("my", "thing_backward", "_own", "add"));
}

TEST(FusedOperationsTest, NumbersAreNoOperations) {
  EXPECT_THAT(FusedOperationsOf("triton_poi_fused_0"), IsEmpty());
  EXPECT_THAT(FusedOperationsOf("triton_poi_fused_add_1_mul_2_3"), ElementsAre("add", "mul"));
  EXPECT_THAT(FusedOperationsOf("triton_poi_fused_log1p_add_12_0d1d2de"),
              ElementsAre("log1p", "add"));
}

TEST(FusedOperationsTest, AreThoseThatAFusionOfXlaEndsIn) {
  EXPECT_THAT(FusedOperationsOf("loop_convert_multiply_fusion_5"),
              ElementsAre("convert", "multiply"));
  EXPECT_THAT(FusedOperationsOf("input_add_reduce_fusion"), ElementsAre("add", "reduce"));
  EXPECT_THAT(FusedOperationsOf("loop_dynamic_update_slice_fusion_1"),
              ElementsAre("dynamic_update_slice"));
  EXPECT_THAT(FusedOperationsOf("wrapped_concatenate_11"), ElementsAre("concatenate"));
  EXPECT_THAT(FusedOperationsOf("loop_add_fusion_5_1"), ElementsAre("add"));
  EXPECT_THAT(FusedOperationsOf("fusion_12"), IsEmpty());
  EXPECT_THAT(FusedOperationsOf("loop_fusion_3"), IsEmpty());
}

TEST(FusedOperationsTest, OtherKernelsHaveNone) {
  for (const char* name :
       {"", "triton_", "triton_po", "triton_poi_fused_", "triton_poi_fused_add", "triton_mm_3",
        "triton_POI_fused_add_3", "nvjet_tst_256x128", "loop_", "input_add", "wrapped_",
        "wrapped_my_kernel", "_ZN2at6native29vectorized_elementwise_kernelILi4E",
        "triton_poi_fused_add\xff_3"}) {
    EXPECT_THAT(FusedOperationsOf(name), IsEmpty()) << name;
    EXPECT_EQ(FusedOperationsText(name), "") << name;
  }
}

TEST(FusedOperationsTest, TextIsBounded) {
  EXPECT_EQ(FusedOperationsText("triton_poi_fused_add_relu_3"), "add + relu");
  std::string many = "triton_poi_fused";
  for (int i = 0; i < 100; ++i) many += "_op";
  EXPECT_EQ(FusedOperationsOf(many + "_1").size(), kMostFusedOperations);
  EXPECT_THAT(FusedOperationsText(many + "_1"), ::testing::EndsWith("op + …"));
  const std::string text =
      FusedOperationsText("triton_poi_fused_add_" + std::string(2000, 'x') + "_1");
  EXPECT_EQ(text, "add + …");
  EXPECT_THAT(FusedOperationsOf(std::string(1 << 20, '_')), IsEmpty());
}

TEST(FusedOperationsTest, UnderscoresAreNoOperation) {
  EXPECT_THAT(FusedOperationsOf("triton_poi_fused______3"), IsEmpty());
  EXPECT_THAT(FusedOperationsOf("triton_poi_fused___and___add_3"), ElementsAre("__and__", "add"));
}

}  // namespace
}  // namespace utlz
