#include "collector/kernel_code/flop_bounds.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>

#include "collector/kernel_code/describe_code.h"
#include "tests/support/machine_code.h"
#include "tests/unit/kernel_code/simulated_kernel.h"

namespace utlz {
namespace {

KernelCode Described(const CodeWriter& code) {
  const std::string bytes = code.Bytes();
  const std::optional<KernelCode> described = DescribeCode({bytes}, 90);
  EXPECT_TRUE(described.has_value());
  return described.value_or(KernelCode{});
}

// A loop with a multiplication of integers before it and an FFMA and an IADD3 in it.
KernelCode Loop() {
  CodeWriter code;
  code.Add(kImad);
  const uint32_t top = code.Add(kFfma);
  code.Add(kIadd3);
  code.AddSetPredicate(0);
  code.SetTarget(code.AddBranch(0), top);
  code.AddExit();
  return Described(code);
}

TEST(FlopBoundsTest, CodeWithoutChoicesIsExactWithoutCounters) {
  CodeWriter code;
  code.Add(kFfma);
  code.Add(kFadd);
  code.Add(kImad);
  code.Add(kHfma2Mma);
  code.AddExit();
  const std::optional<FlopBounds> bounds = BoundFlops(Described(code), {.threads = 64, .warps = 2});
  ASSERT_TRUE(bounds.has_value());
  EXPECT_NEAR(bounds->fp32_least, 3 * 64, 1e-3);
  EXPECT_NEAR(bounds->fp32_most, 3 * 64, 1e-3);
  EXPECT_NEAR(bounds->half_least, 4 * 64, 1e-3);
  EXPECT_NEAR(bounds->half_most, 4 * 64, 1e-3);
}

TEST(FlopBoundsTest, ALoopIsOpenAboveUntilACounterEndsIt) {
  const KernelCode loop = Loop();
  EXPECT_FALSE(BoundFlops(loop, {.threads = 32, .warps = 1}).has_value());
  // Ten rounds of one warp: 11 instructions of the FMA pipe.
  const std::optional<FlopBounds> bounds =
      BoundFlops(loop, {.threads = 32, .warps = 1, .thread_fma = CountedInstructions{11 * 32, 0}});
  ASSERT_TRUE(bounds.has_value());
  EXPECT_NEAR(bounds->fp32_least, 10 * 32 * 2, 0.1);
  EXPECT_NEAR(bounds->fp32_most, 10 * 32 * 2, 0.1);
}

TEST(FlopBoundsTest, WarpsBoundFromAboveAndTheirLostLanesFromBelow) {
  const KernelCode loop = Loop();
  CountedLaunch counted{.threads = 32, .warps = 1, .warp_fma = CountedInstructions{11, 0}};
  std::optional<FlopBounds> bounds = BoundFlops(loop, counted);
  ASSERT_TRUE(bounds.has_value());
  EXPECT_NEAR(bounds->fp32_most, 10 * 32 * 2, 0.1);
  // A single lane may have gone on alone.
  EXPECT_LT(bounds->fp32_least, 3 * 32 * 2);
  // 1 + 10 × 4 + 1 instructions; in all but the last round the branch was taken.
  counted.warp_all = CountedInstructions{42, 0};
  counted.thread_all = CountedInstructions{41 * 32, 0};
  bounds = BoundFlops(loop, counted);
  ASSERT_TRUE(bounds.has_value());
  EXPECT_NEAR(bounds->fp32_least, 10 * 32 * 2, 1);
}

TEST(FlopBoundsTest, ErrorsAreTakenTimes196) {
  const std::optional<FlopBounds> bounds = BoundFlops(
      Loop(), {.threads = 32, .warps = 1, .thread_fma = CountedInstructions{11 * 32, 32}});
  ASSERT_TRUE(bounds.has_value());
  EXPECT_NEAR(bounds->fp32_least, (10 - 1.96) * 32 * 2, 0.1);
  EXPECT_NEAR(bounds->fp32_most, (10 + 1.96) * 32 * 2, 0.1);
}

TEST(FlopBoundsTest, InstructionsOfOnePredicateGoTogether) {
  CodeWriter code;
  code.AddSetPredicate(2);
  code.Add(kFfma, 2);
  code.Add(kImad, 2);
  code.Add(kImad, 2 | kNot);
  code.AddExit();
  // Of 32 threads 8 hold, so 24 do the second IMAD alone: 8 + 8 + 24 instructions.
  const std::optional<FlopBounds> bounds = BoundFlops(
      Described(code), {.threads = 32, .warps = 1, .thread_fma = CountedInstructions{40, 0}});
  ASSERT_TRUE(bounds.has_value());
  EXPECT_NEAR(bounds->fp32_least, 16, 0.01);
  EXPECT_NEAR(bounds->fp32_most, 16, 0.01);
}

TEST(FlopBoundsTest, ABranchTellsHowItsPredicateFell) {
  CodeWriter code;
  code.AddSetPredicate(1);
  code.Add(kFfma, 1);
  const uint32_t branch = code.AddBranch(1);
  code.Add(kImad);
  code.SetTarget(branch, code.size());
  code.AddExit();
  // Those that did the FFMA go by the IMAD: of 32 one or the other.
  const std::optional<FlopBounds> bounds = BoundFlops(
      Described(code), {.threads = 32, .warps = 1, .thread_xu = CountedInstructions{0, 0}});
  ASSERT_TRUE(bounds.has_value());
  const std::optional<FlopBounds> counted =
      BoundFlops(Described(code), {.threads = 32,
                                   .warps = 1,
                                   .thread_fma = CountedInstructions{32, 0},
                                   .thread_all = CountedInstructions{32 * 3 + 32, 0}});
  ASSERT_TRUE(counted.has_value());
  EXPECT_NEAR(bounds->fp32_most, 64, 0.01);
}

TEST(FlopBoundsTest, LanesMayComeBackFromACallApart) {
  CodeWriter code;
  const uint32_t move = code.AddMove(0);
  const uint32_t call = code.AddCall();
  code.SetConstant(move, code.size());
  for (int turn = 0; turn < 10; ++turn) code.Add(kFfma);
  code.AddExit();
  code.SetTarget(call, code.size());
  const uint32_t branch = code.AddBranch(0);
  code.Add(kImad);
  code.SetTarget(branch, code.size());
  code.AddReturn();
  // Half of a warp's lanes take the branch, and nothing joins the halves: 2 × 10 + 1.
  const std::optional<FlopBounds> bounds = BoundFlops(
      Described(code), {.threads = 32, .warps = 1, .warp_fma = CountedInstructions{21, 0}});
  ASSERT_TRUE(bounds.has_value());
  EXPECT_NEAR(bounds->fp32_least, 32 * 20, 0.1);
  EXPECT_NEAR(bounds->fp32_most, 32 * 20, 0.1);
}

TEST(FlopBoundsTest, WhatIsNotKnownWidensBothWays) {
  CodeWriter code;
  code.Add(kUnknownOpcode);
  code.Add(kFadd);
  code.AddExit();
  const std::optional<FlopBounds> bounds = BoundFlops(Described(code), {.threads = 32, .warps = 1});
  ASSERT_TRUE(bounds.has_value());
  EXPECT_NEAR(bounds->fp32_least, 32, 0.01);
  EXPECT_NEAR(bounds->fp32_most, 3 * 32, 0.01);
  EXPECT_NEAR(bounds->half_most, 4 * 32, 0.01);
}

TEST(FlopBoundsTest, CountsThatContradictTheCodeBoundNothing) {
  CodeWriter code;
  code.Add(kFfma);
  code.AddExit();
  EXPECT_FALSE(BoundFlops(Described(code),
                          {.threads = 32, .warps = 1, .thread_fma = CountedInstructions{96, 1}})
                   .has_value());
}

TEST(FlopBoundsTest, OtherChipsAndImpossibleLaunchesAreRefused) {
  KernelCode loop = Loop();
  const CountedLaunch counted{
      .threads = 32, .warps = 1, .thread_fma = CountedInstructions{11 * 32, 0}};
  ASSERT_TRUE(BoundFlops(loop, counted).has_value());
  CountedLaunch impossible = counted;
  impossible.threads = 0;
  EXPECT_FALSE(BoundFlops(loop, impossible).has_value());
  impossible = counted;
  impossible.warps = 33;
  EXPECT_FALSE(BoundFlops(loop, impossible).has_value());
  impossible = counted;
  impossible.thread_fma->a_launch = -1;
  EXPECT_FALSE(BoundFlops(loop, impossible).has_value());
  impossible = counted;
  impossible.thread_fma->error = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(BoundFlops(loop, impossible).has_value());
  // More than 64 bits count. Bounds from it would not be finite.
  impossible = counted;
  impossible.thread_fma->a_launch = 4e303;
  EXPECT_FALSE(BoundFlops(loop, impossible).has_value());
  impossible = counted;
  impossible.thread_fma->error = 4e303;
  EXPECT_FALSE(BoundFlops(loop, impossible).has_value());
  loop.compute_capability = 80;
  EXPECT_FALSE(BoundFlops(loop, counted).has_value());
}

TEST(FlopBoundsTest, DescriptionsOutOfFilesAreChecked) {
  const CountedLaunch counted{.threads = 32, .warps = 1};
  CodeWriter writer;
  writer.AddExit();
  const KernelCode good = Described(writer);
  ASSERT_TRUE(BoundFlops(good, counted).has_value());
  KernelCode bad = good;
  bad.blocks[0].successors = {7};
  EXPECT_FALSE(BoundFlops(bad, counted).has_value());
  bad = good;
  bad.blocks[0].successors.clear();
  EXPECT_FALSE(BoundFlops(bad, counted).has_value());
  bad = good;
  bad.blocks[0].callee = 1;
  EXPECT_FALSE(BoundFlops(bad, counted).has_value());
  bad = good;
  bad.blocks[0].joined_since = {1};
  EXPECT_FALSE(BoundFlops(bad, counted).has_value());
  bad = good;
  bad.blocks[0].choices.resize(1);
  bad.blocks[0].choices[0].way_out = WayOut::kFirstIfHeld;  // with one way alone
  EXPECT_FALSE(BoundFlops(bad, counted).has_value());
  bad = good;
  bad.blocks[0].choices.resize(1);
  bad.blocks[0].choices[0].way_out = static_cast<WayOut>(9);
  EXPECT_FALSE(BoundFlops(bad, counted).has_value());
  bad = good;
  bad.blocks.clear();
  EXPECT_FALSE(BoundFlops(bad, counted).has_value());
  bad.blocks.resize(kMostCodeBlocks + 1, good.blocks[0]);
  EXPECT_FALSE(BoundFlops(bad, counted).has_value());
}

// Any part of the counters, each off by up to 1.96 of its errors.
CountedLaunch SomeCounters(const TrueLaunch& launch, std::mt19937* random) {
  CountedLaunch counted{.threads = launch.threads, .warps = launch.warps};
  const auto count = [&](double truth) -> std::optional<CountedInstructions> {
    if ((*random)() % 3 == 0) return std::nullopt;
    const double error = std::array{0.0, 0.002, 0.02}[(*random)() % 3] * truth;
    const double off = std::uniform_real_distribution<double>(-1.95, 1.95)(*random);
    return CountedInstructions{std::max(0.0, truth + off * error), error};
  };
  const double lite = std::uniform_real_distribution<double>(0, 1)(*random);
  counted.warp_fma = count(launch.of_warps.fma);
  counted.warp_fma_lite = count(lite * launch.of_warps.fp32);
  counted.warp_alu = count(launch.of_warps.alu);
  counted.warp_xu = count(launch.of_warps.xu);
  counted.warp_all = count(launch.of_warps.all);
  counted.thread_fma = count(launch.of_threads.fma);
  counted.thread_fma_lite = count(lite * launch.of_threads.fp32);
  counted.thread_alu = count(launch.of_threads.alu);
  counted.thread_xu = count(launch.of_threads.xu);
  counted.thread_lsu = count(launch.of_threads.lsu);
  counted.thread_all = count(launch.of_threads.all);
  return counted;
}

TEST(FlopBoundsTest, HoldWhatRandomKernelsReallyDid) {
  std::mt19937 random(5);
  int bounded = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SimulatedKernel kernel(seed, static_cast<int>(seed % 16));
    const std::optional<KernelCode> code = DescribeCode({kernel.code()}, 90);
    ASSERT_TRUE(code.has_value()) << seed;
    const TrueLaunch launch =
        kernel.Launch(1 + static_cast<int>(seed % 5), 1 + static_cast<int>(random() % 100));
    const CountedLaunch counted = SomeCounters(launch, &random);
    const std::optional<FlopBounds> bounds = BoundFlops(*code, counted);
    const bool ends = counted.warp_all.has_value() || counted.thread_all.has_value();
    ASSERT_TRUE(bounds.has_value() || !ends) << seed;
    if (!bounds.has_value()) continue;
    ++bounded;
    EXPECT_LE(bounds->fp32_least, launch.fp32_flops) << seed;
    EXPECT_GE(bounds->fp32_most, launch.fp32_flops) << seed;
    EXPECT_LE(bounds->half_least, launch.half_flops) << seed;
    EXPECT_GE(bounds->half_most, launch.half_flops) << seed;
  }
  EXPECT_GT(bounded, 300);
}

}  // namespace
}  // namespace utlz
