#include "collector/kernel_code/describe_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/machine_code.h"

namespace utlz {
namespace {

using testing::ElementsAre;

std::optional<KernelCode> Describe(const CodeWriter& code,
                                   const std::vector<uint64_t>& relocated = {}) {
  const std::string bytes = code.Bytes();
  return DescribeCode({bytes, relocated}, 90);
}

TEST(DescribeCodeTest, StraightCodeIsOneBlock) {
  CodeWriter code;
  code.Add(kFfma);
  code.Add(kFadd);
  code.Add(kImad);
  code.AddExit();
  code.SetTarget(code.AddBranch(), 0);  // behind the end
  const std::optional<KernelCode> described = Describe(code);
  ASSERT_TRUE(described.has_value());
  EXPECT_EQ(described->compute_capability, 90u);
  ASSERT_EQ(described->blocks.size(), 1u);
  const CodeBlock& block = described->blocks[0];
  EXPECT_EQ(block.always, (InstructionCounts{.all = 4, .fma = 3, .fp32 = 2, .fp32_flops = 3}));
  EXPECT_TRUE(block.choices.empty());
  EXPECT_THAT(block.successors, ElementsAre(kThreadEnds));
}

TEST(DescribeCodeTest, ABranchHasTwoWaysAndTheJoinIsABlock) {
  CodeWriter code;
  const uint32_t branch = code.AddBranch(3);
  code.Add(kFfma);
  code.SetTarget(branch, code.size());
  code.Add(kFadd);
  code.AddExit();
  const std::optional<KernelCode> described = Describe(code);
  ASSERT_TRUE(described.has_value());
  ASSERT_EQ(described->blocks.size(), 3u);
  EXPECT_THAT(described->blocks[0].successors, ElementsAre(2u, 1u));
  EXPECT_THAT(described->blocks[1].successors, ElementsAre(2u));
  // The branch counts for those that take it.
  ASSERT_EQ(described->blocks[0].choices.size(), 1u);
  EXPECT_EQ(described->blocks[0].choices[0].held.all, 1u);
  EXPECT_EQ(described->blocks[0].choices[0].way_out, WayOut::kFirstIfHeld);
}

TEST(DescribeCodeTest, OnePredicateIsOneChoiceUntilItIsWritten) {
  CodeWriter code;
  code.Add(kFfma, 1);
  code.Add(kFadd, 1 | kNot);
  code.Add(kImad);
  code.Add(kFmul, 1);
  code.AddSetPredicate(1);
  code.Add(kMufu, 1);
  code.AddExit();
  const std::optional<KernelCode> described = Describe(code);
  ASSERT_TRUE(described.has_value());
  const std::vector<CodeChoice>& choices = described->blocks[0].choices;
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(choices[0].held.fp32_flops, 3u);
  EXPECT_EQ(choices[0].not_held.fp32_flops, 1u);
  EXPECT_EQ(choices[1].held.xu, 1u);
  EXPECT_EQ(choices[0].way_out, WayOut::kEither);
}

TEST(DescribeCodeTest, WhatIsNeverDoneCountsForNoThread) {
  CodeWriter code;
  code.Add(kFfma, kNoGuard | kNot);
  code.AddExit();
  const std::optional<KernelCode> described = Describe(code);
  ASSERT_TRUE(described.has_value());
  EXPECT_EQ(described->blocks[0].always.fp32_flops, 0u);
}

TEST(DescribeCodeTest, AnEndByAPredicateIsAWayOut) {
  CodeWriter code;
  code.AddExit(0 | kNot);
  code.Add(kFfma);
  code.AddExit();
  const std::optional<KernelCode> described = Describe(code);
  ASSERT_TRUE(described.has_value());
  ASSERT_EQ(described->blocks.size(), 2u);
  EXPECT_THAT(described->blocks[0].successors, ElementsAre(kThreadEnds, 1u));
  EXPECT_EQ(described->blocks[0].choices[0].way_out, WayOut::kFirstIfNot);
}

// A kernel that calls a function: MOV, CALL, EXIT; the function.
CodeWriter Calling(uint32_t address_behind, bool function_ends = false) {
  CodeWriter code;
  const uint32_t move = code.AddMove(0);
  const uint32_t call = code.AddCall();
  code.SetConstant(move, code.size() + address_behind);
  code.AddExit();
  code.SetTarget(call, code.size());
  code.Add(kFfma);
  if (function_ends) code.AddExit(0);
  code.AddReturn();
  return code;
}

TEST(DescribeCodeTest, ACallComesBackBehindItself) {
  const std::optional<KernelCode> described = Describe(Calling(0));
  ASSERT_TRUE(described.has_value());
  ASSERT_EQ(described->blocks.size(), 3u);
  EXPECT_EQ(described->blocks[0].callee, 2u);
  EXPECT_THAT(described->blocks[0].successors, ElementsAre(1u));
  EXPECT_EQ(described->blocks[2].always.fp32_flops, 2u);
  EXPECT_THAT(described->blocks[2].successors, ElementsAre(kThreadEnds));
}

TEST(DescribeCodeTest, ACallThatMayComeBackElsewhereIsRefused) {
  EXPECT_FALSE(Describe(Calling(16)).has_value());
}

TEST(DescribeCodeTest, ThreadsMayEndInAFunction) {
  const std::optional<KernelCode> described = Describe(Calling(0, true));
  ASSERT_TRUE(described.has_value());
  EXPECT_THAT(described->blocks[0].successors, ElementsAre(1u, kThreadEnds));
}

TEST(DescribeCodeTest, BlocksWhereLanesJoinKnowSinceWhen) {
  CodeWriter code;
  const uint32_t region = code.AddRegion(4);
  const uint32_t branch = code.AddBranch(0);
  code.Add(kFfma);
  code.SetTarget(branch, code.size());
  code.AddWait(4);
  code.SetTarget(region, code.size());
  code.Add(kFadd);
  code.AddExit();
  const std::optional<KernelCode> described = Describe(code);
  ASSERT_TRUE(described.has_value());
  // The wait is no part of what follows: fewer warps go on.
  ASSERT_EQ(described->blocks.size(), 4u);
  EXPECT_THAT(described->blocks[2].joined_since, ElementsAre(0u));
  EXPECT_EQ(described->blocks[3].always.fp32_flops, 1u);
}

TEST(DescribeCodeTest, AWaitBehindOtherCodeIsJoinedWithIt) {
  CodeWriter code;
  const uint32_t region = code.AddRegion(1);
  code.Add(kFfma);
  const uint32_t wait = code.AddWait(1);
  code.SetTarget(region, code.size());
  code.AddExit();
  code.SetTarget(code.AddBranch(), wait);  // which no thread reaches
  const std::optional<KernelCode> described = Describe(code);
  ASSERT_TRUE(described.has_value());
  ASSERT_EQ(described->blocks.size(), 2u);
  EXPECT_THAT(described->blocks[0].joined_since, ElementsAre(0u));
}

TEST(DescribeCodeTest, AWaitThatEndsNoRegionIsRefused) {
  CodeWriter code;
  const uint32_t region = code.AddRegion(4);
  code.AddWait(5);
  code.SetTarget(region, code.size());
  code.AddExit();
  EXPECT_FALSE(Describe(code).has_value());
}

TEST(DescribeCodeTest, WaysOutOfTheCodeAreRefused) {
  CodeWriter falls;
  falls.Add(kFfma);
  EXPECT_FALSE(Describe(falls).has_value());
  CodeWriter jumps;
  jumps.SetTarget(jumps.AddBranch(), 0x1000);
  EXPECT_FALSE(Describe(jumps).has_value());
  CodeWriter before;
  before.SetTarget(before.AddBranch(), static_cast<uint32_t>(-64));
  EXPECT_FALSE(Describe(before).has_value());
  CodeWriter computed;
  computed.AddWords(0x0000000002007343, 0);  // CALL.ABS
  computed.AddExit();
  EXPECT_FALSE(Describe(computed).has_value());
  EXPECT_FALSE(Describe(CodeWriter()).has_value());
}

TEST(DescribeCodeTest, OnlyWhatThreadsReachMatters) {
  CodeWriter code;
  code.AddExit();
  code.AddWords(0x0000000002007343, 0);
  EXPECT_TRUE(Describe(code).has_value());
}

TEST(DescribeCodeTest, ABranchThatTheLoaderChangesIsRefused) {
  CodeWriter code;
  code.Add(kFfma);
  const uint32_t branch = code.AddBranch(0);
  code.SetTarget(branch, 0);
  code.AddExit();
  EXPECT_TRUE(Describe(code, {0}).has_value());
  EXPECT_FALSE(Describe(code, {branch}).has_value());
  EXPECT_TRUE(Describe(code, {~uint64_t{0}}).has_value());
}

TEST(DescribeCodeTest, OtherChipsAreRefused) {
  CodeWriter code;
  code.AddExit();
  EXPECT_FALSE(DescribeCode({code.Bytes()}, 80).has_value());
}

TEST(DescribeCodeTest, CodeThatIsTooLargeIsRefused) {
  CodeWriter code;
  for (uint32_t block = 0; block < 2 * kMostCodeBlocks; ++block) {
    const uint32_t branch = code.AddBranch(0);
    code.Add(kFfma);
    code.SetTarget(branch, code.size());
  }
  code.AddExit();
  EXPECT_FALSE(Describe(code).has_value());
}

}  // namespace
}  // namespace utlz
