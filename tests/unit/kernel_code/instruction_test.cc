// Instructions of PyTorch's kernels, as nvcc 13.0 made them for sm_90, and what Nsight Compute
// shows of them.
#include "collector/kernel_code/instruction.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

struct Expected {
  const char* text;  // as Nsight Compute shows it
  uint64_t low;
  uint64_t high;
  InstructionCounts counts;
};

TEST(InstructionTest, IsCountedAsNsightComputeCountsIt) {
  const Expected all[] = {
      {"FFMA R15, R19, UR6, R15",
       0x00000006130f7c23,
       0x004fe2000800000f,
       {.all = 1, .fma = 1, .fp32 = 1, .fp32_flops = 2}},
      {"FADD.FTZ R23, -R24, -RZ",
       0x800000ff18177221,
       0x001fc80000010100,
       {.all = 1, .fma = 1, .fp32 = 1, .fp32_flops = 1}},
      {"FMUL R13, R8, 0.70710676908493041992",
       0x3f3504f3080d7820,
       0x044fe20000400000,
       {.all = 1, .fma = 1, .fp32 = 1, .fp32_flops = 1}},
      {"IMAD.WIDE R4, R0, 0x4, R4", 0x0000000400047825, 0x002fc800078e0204, {.all = 1, .fma = 1}},
      {"IMAD R0, R16, -0x800000, R7", 0xff80000010007824, 0x000fe200078e0207, {.all = 1, .fma = 1}},
      {"VIADD R7, R7, 0x80",
       0x0000008007077836,
       0x000fc40000000000,
       {.all = 1, .fma = 1, .fp32 = 1}},
      {"IADD3 R2, -R0, UR4, RZ", 0x0000000400027c10, 0x000fe2000fffe1ff, {.all = 1, .alu = 1}},
      {"FSETP.GE.AND P0, PT, |R13|, 1.00296, PT",
       0x3f8060fe0d00780b,
       0x040fe20003f06200,
       {.all = 1, .alu = 1}},
      {"F2FP.BF16.F32.PACK_AB R4, R9, R6",
       0x000000060904723e,
       0x000fc400000010ff,
       {.all = 1, .alu = 1}},
      {"MUFU.RCP R21, R3", 0x0000000300157308, 0x0000a20000001000, {.all = 1, .xu = 1}},
      {"FCHK P0, R7, R0", 0x0000000007007302, 0x000ff00000000000, {.all = 1, .xu = 1}},
      {"LDG.E.128 R12, desc[UR4][R20.64]",
       0x00000004140c7981,
       0x000ea6000c1e1d00,
       {.all = 1, .lsu = 1}},
      {"STG.E.128 desc[UR4][R24.64], R12",
       0x0000000c18007986,
       0x000fe8000c101d04,
       {.all = 1, .lsu = 1}},
      {"SHFL.DOWN PT, R11, R30, 0x10, 0x1f",
       0x0a001f001e0b7f89,
       0x000e2200000e0000,
       {.all = 1, .lsu = 1}},
      {"S2R R0, SR_CTAID.X", 0x0000000000007919, 0x000e220000002500, {.all = 1}},
      {"S2R R0, SR_TID.X", 0x0000000000007919, 0x000e220000002100, {.all = 1, .lsu = 1}},
      {"ULDC UR4, c[0x0][0x210]", 0x0000840000047ab9, 0x000fe20000000800, {.all = 1}},
      {"HFMA2.MMA R4, -RZ, RZ, 0, 0", 0x00000000ff047435, 0x000fe200000001ff, {.all = 1}},
      {"HFMA2.MMA of a register",
       0x0000000005047435,
       0x000fe200000001ff,
       {.all = 1, .half_flops = 4}},
      {"nothing that is known", 0x00000000050472fe, 0, {.all = 1, .any_pipe = 1, .unknown = 1}},
  };
  for (const Expected& expected : all) {
    EXPECT_EQ(DecodeInstruction(expected.low, expected.high).counts, expected.counts)
        << expected.text;
  }
}

TEST(InstructionTest, GuardsAreRead) {
  // @!P2 VIADD R7, R7, 0x80
  const Instruction negated = DecodeInstruction(0x000000800707a836, 0x000fc40000000000);
  EXPECT_EQ(negated.guard, 2);
  EXPECT_TRUE(negated.guard_negated);
  EXPECT_EQ(negated.counts.fma, 1u);
  // @P0 FFMA R13, R0, R27, R29
  const Instruction plain = DecodeInstruction(0x0000001b000d0223, 0x0c8fe2000000001d);
  EXPECT_EQ(plain.guard, 0);
  EXPECT_FALSE(plain.guard_negated);
  EXPECT_EQ(DecodeInstruction(0x0000000c18007986, 0x000fe8000c101d04).guard, kAlwaysHolds);
}

TEST(InstructionTest, PredicatesThatAreResultsAreFound) {
  // ISETP.GE.U32.AND P0, PT, R2, 0x400, PT
  EXPECT_EQ(DecodeInstruction(0x000004000200780c, 0x000fda0003f06070).predicates_written, 1);
  // LOP3.LUT P0, RZ, R0, 0x7fffffff, R7, 0xc8, !PT
  EXPECT_EQ(DecodeInstruction(0x7fffffff00ff7812, 0x000fda000780c807).predicates_written, 1);
  // PLOP3.LUT P0, PT, P0, P1, PT, 0xa8, 0x0
  EXPECT_EQ(DecodeInstruction(0x000000000000781c, 0x000fda0000703570).predicates_written, 1);
  // FFMA and FMUL have none.
  EXPECT_EQ(DecodeInstruction(0x00000006130f7c23, 0x004fe2000800000f).predicates_written, 0);
  EXPECT_EQ(DecodeInstruction(0x3f3504f3080d7820, 0x044fe20000400000).predicates_written, 0);
  // What is not known may write all.
  EXPECT_EQ(DecodeInstruction(0x00000000050472fe, 0).predicates_written, 0x7f);
}

TEST(InstructionTest, TargetsAreFound) {
  // At 0x70: @!P0 BRA 0x220
  const Instruction branch = DecodeInstruction(0x0000000000688947, 0x000fea0003800000);
  EXPECT_EQ(branch.flow, Flow::kBranch);
  EXPECT_EQ(branch.target, 0x220 - 0x80);
  EXPECT_FALSE(branch.second_condition);
  // At 0x23b0: @!P3 BRA !P0, 0x2870
  const Instruction two = DecodeInstruction(0x00000004002cb947, 0x000fea0004000000);
  EXPECT_EQ(two.target, 0x2870 - 0x23c0);
  EXPECT_TRUE(two.second_condition);
  // A branch to itself, as it follows the end of every kernel.
  EXPECT_EQ(DecodeInstruction(0xfffffffc00fc7947, 0x000fc0000383ffff).target, -16);
  // At 0x2d0: CALL.REL.NOINC 0x2270
  const Instruction call = DecodeInstruction(0x0000001c00e47944, 0x020fea0003c00000);
  EXPECT_EQ(call.flow, Flow::kCall);
  EXPECT_EQ(call.target, 0x2270 - 0x2e0);
  // At 0x7c0: BSSY B0, 0xb40, and BSYNC B1
  const Instruction region = DecodeInstruction(0x0000037000007945, 0x000fe80003800000);
  EXPECT_EQ(region.flow, Flow::kBarrier);
  EXPECT_EQ(region.target, 0xb40 - 0x7d0);
  EXPECT_EQ(region.barrier, 0);
  const Instruction wait = DecodeInstruction(0x0000000000017941, 0x000fea0003800000);
  EXPECT_EQ(wait.flow, Flow::kWait);
  EXPECT_EQ(wait.barrier, 1);
  // At 0x15d0: WARPSYNC.COLLECTIVE R10, 0x1600
  const Instruction together = DecodeInstruction(0x000000000a087348, 0x000fea0003c00000);
  EXPECT_EQ(together.flow, Flow::kCollective);
  EXPECT_EQ(together.target, 0x1600 - 0x15e0);
}

TEST(InstructionTest, OtherWaysOnAreKnownOrRefused) {
  EXPECT_EQ(DecodeInstruction(0x000000000000794d, 0x000fea0003800000).flow, Flow::kExit);
  // RET.REL.NODEC R22
  EXPECT_EQ(DecodeInstruction(0xffffffd416c47950, 0x000fea0003c3ffff).flow, Flow::kReturn);
  // BAR.SYNC
  EXPECT_EQ(DecodeInstruction(0x0000000000007b1d, 0x000fec0000010000).flow, Flow::kTogether);
  // CALL.ABS.NOINC R2
  EXPECT_EQ(DecodeInstruction(0x0000000002007343, 0x003fea0003c00000).flow, Flow::kUnfollowable);
  // BRX, of which no example was seen.
  EXPECT_EQ(DecodeInstruction(0x0000000002007949, 0).flow, Flow::kUnfollowable);
}

TEST(InstructionTest, MovesOfConstantsAreFound) {
  // MOV R2, 0x2e0
  const Instruction move = DecodeInstruction(0x000002e000027802, 0x000fe40000000f00);
  EXPECT_TRUE(move.sets_constant);
  EXPECT_EQ(move.constant, 0x2e0u);
  // IMAD R0, R16, -0x800000, R7 multiplies.
  EXPECT_FALSE(DecodeInstruction(0xff80000010007824, 0x000fe200078e0207).sets_constant);
}

}  // namespace
}  // namespace utlz
