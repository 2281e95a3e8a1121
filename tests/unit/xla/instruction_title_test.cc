#include "collector/xla/instruction_title.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

TEST(InstructionTitleTest, HasTheCommonNameAndTheInstruction) {
  const XlaTitle title = ParseXlaTitle(
      "Thunk:#name=jit(step)/jvp(Model)/head/"
      "dot_general,hlo_op=gemm_fusion_dot.44,unique_hlo_op_id="
      "506806141015#");
  EXPECT_EQ(title.common_name, "jit(step)/jvp(Model)/head/dot_general");
  EXPECT_EQ(title.instruction, "gemm_fusion_dot.44");
  EXPECT_FALSE(title.is_program);
}

TEST(InstructionTitleTest, OperationsMayHaveNothingInCommon) {
  const XlaTitle title = ParseXlaTitle("Thunk:#hlo_op=input_reduce_fusion.2,unique_hlo_op_id=9#");
  EXPECT_EQ(title.common_name, std::nullopt);
  EXPECT_EQ(title.instruction, "input_reduce_fusion.2");
  const XlaTitle prefix_alone = ParseXlaTitle("Thunk:#name=,hlo_op=add.1,unique_hlo_op_id=9#");
  EXPECT_EQ(prefix_alone.common_name, "") << "all of it stands in the program's title";
}

TEST(InstructionTitleTest, NamesMayHoldCommas) {
  const XlaTitle title = ParseXlaTitle(
      "Thunk:#name=jit(f)/a,hlo_op=b;bqhd,bkhd->bhqk/dot_general,hlo_op=dot.1,unique_hlo_op_id=3#");
  EXPECT_EQ(title.common_name, "jit(f)/a,hlo_op=b;bqhd,bkhd->bhqk/dot_general");
  EXPECT_EQ(title.instruction, "dot.1");
}

TEST(InstructionTitleTest, ProgramsHaveTitlesToo) {
  const XlaTitle title =
      ParseXlaTitle("XlaModule:#prefix=jit(step),hlo_module=jit_step,program_id=5974#");
  EXPECT_TRUE(title.is_program);
  EXPECT_FALSE(title.is_trial);
  EXPECT_EQ(title.instruction, "jit_step");
  EXPECT_EQ(title.common_name, std::nullopt);
}

TEST(InstructionTitleTest, OtherTextsSayNothing) {
  for (const char* text :
       {"", "forward", "Thunk:#", "XlaModule:", "Thunk:#name=x", "hlo_op=add.1#"}) {
    const XlaTitle title = ParseXlaTitle(text);
    EXPECT_EQ(title.instruction, "") << text;
    EXPECT_EQ(title.common_name, std::nullopt) << text;
  }
}

// Of programs that are tried alone there is no number.
TEST(InstructionTitleTest, ProgramsWithoutANumberAreTrials) {
  const XlaTitle title = ParseXlaTitle("XlaModule:#hlo_module=gemm_fusion_dot.44#");
  EXPECT_TRUE(title.is_program);
  EXPECT_TRUE(title.is_trial);
  EXPECT_EQ(title.instruction, "gemm_fusion_dot.44");
  EXPECT_FALSE(ParseXlaTitle("Thunk:#hlo_op=copy.1#").is_trial);
}

}  // namespace
}  // namespace utlz
