// Counts of ranges solved for the kernels in them: exact where they tell, honest where they do not.
#include "collector/attribution/flop_solver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "collector/normal_interval.h"

namespace utlz {
namespace {

// A kernel whose name tells all, sampled with an error of 2 %.
KernelPrior Told(double per_launch, const std::string& data_type = "bf16") {
  KernelPrior prior;
  prior.instructions_known = true;
  prior.by_type[data_type] = {per_launch, 0.02 * per_launch, 0.5 * per_launch};
  for (const char* other : {"bf16", "tf32"}) {
    if (other != data_type) prior.by_type[other] = {0, 0, 0.5 * per_launch};
  }
  return prior;
}

KernelPrior Unknown(double per_launch) {
  KernelPrior prior = Told(per_launch);
  prior.instructions_known = false;
  return prior;
}

KernelPrior OfWarps(double per_launch) {
  KernelPrior prior = Told(per_launch);
  prior.warp_mma = true;
  return prior;
}

CountedMix Mix(std::map<uint32_t, uint32_t> kernels, double bf16, double tf32,
               bool warp_groups_only) {
  return {std::move(kernels),
          {{"bf16", {bf16, warp_groups_only}}, {"tf32", {tf32, warp_groups_only}}}};
}

bool Holds(const CalibratedFlops& operations, double truth) {
  return std::abs(operations.per_launch - truth) <= kNormal95 * operations.error + 1e-3 * truth;
}

TEST(FlopSolverTest, SolvesMixesForTheirKernels) {
  // Kernel 1 does 100 bf16 operations, kernel 2 does 30 in tf32, kernel 3 none; names tell nothing.
  FlopPrior prior;
  for (const uint32_t kernel : {1u, 2u, 3u}) {
    prior[kernel].by_type = {{"bf16", {0, 100, 100}}, {"tf32", {0, 100, 100}}};
  }
  const std::vector<CountedMix> mixes = {Mix({{1, 2}, {2, 1}}, 200, 30, false),
                                         Mix({{1, 1}, {2, 2}}, 100, 60, false),
                                         Mix({{1, 1}, {3, 1}}, 100, 0, false)};
  auto solved = SolveFlops(mixes, prior).by_kernel;
  EXPECT_NEAR(solved[1]["bf16"].per_launch, 100, 0.5);
  EXPECT_NEAR(solved[1]["tf32"].per_launch, 0, 0.5);
  EXPECT_NEAR(solved[2]["bf16"].per_launch, 0, 0.5);
  EXPECT_NEAR(solved[2]["tf32"].per_launch, 30, 0.5);
  EXPECT_NEAR(solved[3]["bf16"].per_launch, 0, 0.5);
  EXPECT_LT(solved[1]["bf16"].error, 1);
}

// What ranges of one mix differ by is the least that is not known, and no figure is without an
// error.
TEST(FlopSolverTest, RangesThatDifferLeaveAnError) {
  FlopPrior prior;
  prior[1].by_type = {{"bf16", {0, 100, 100}}};
  std::vector<CountedMix> mixes = {{{{1, 1}}, {{"bf16", {50, false, 0}}}}};
  const double exact = SolveFlops(mixes, prior).by_kernel[1]["bf16"].error;
  EXPECT_GT(exact, 0);
  EXPECT_LT(exact, 0.01);
  mixes[0].counts["bf16"].error = 2;
  EXPECT_NEAR(SolveFlops(mixes, prior).by_kernel[1]["bf16"].error, 2, 0.01);
}

// One mix of many kernels leaves each no less certain than its samples did.
TEST(FlopSolverTest, CountsThatAgreeWithSamplesNarrowThem) {
  const FlopPrior prior = {{1, Told(102)}, {2, Told(49)}, {3, Told(10)}};
  const std::vector<CountedMix> mixes = {Mix({{1, 1}, {2, 1}, {3, 1}}, 160, 0, true)};
  auto solved = SolveFlops(mixes, prior).by_kernel;
  EXPECT_TRUE(Holds(solved[1]["bf16"], 100));
  EXPECT_TRUE(Holds(solved[2]["bf16"], 50));
  EXPECT_TRUE(Holds(solved[3]["bf16"], 10));
  EXPECT_LT(solved[1]["bf16"].error, 0.02 * 102);
  EXPECT_NEAR(
      solved[1]["bf16"].per_launch + solved[2]["bf16"].per_launch + solved[3]["bf16"].per_launch,
      160, 0.1);
}

// Counts of warp groups' instructions do not make a kernel of warps one without FLOPs.
TEST(FlopSolverTest, WhatAMetricCannotCountIsNotTakenFromAKernel) {
  const FlopPrior prior = {{1, Told(102)}, {2, OfWarps(300)}};
  const std::vector<CountedMix> mixes = {Mix({{1, 1}, {2, 1}}, 100, 0, true)};
  auto solved = SolveFlops(mixes, prior).by_kernel;
  EXPECT_NEAR(solved[1]["bf16"].per_launch, 100, 0.1);
  EXPECT_FALSE(solved.contains(2)) << "nothing was counted that could be its own";
  const std::vector<CountedMix> whole = {Mix({{1, 1}, {2, 1}}, 405, 0, false)};
  solved = SolveFlops(whole, prior).by_kernel;
  EXPECT_TRUE(Holds(solved[2]["bf16"], 300));
}

TEST(FlopSolverTest, FindsTheOneKernelOfWarpsThatItsNameHides) {
  const FlopPrior prior = {{1, Told(102)}, {2, Unknown(300)}, {3, Unknown(40)}};
  const std::vector<CountedMix> mixes = {Mix({{1, 1}, {2, 1}, {3, 1}}, 140, 0, true)};
  const SolvedFlops solved = SolveFlops(mixes, prior);
  EXPECT_EQ(solved.warp_mma, std::set<uint32_t>{2});
  EXPECT_FALSE(solved.by_kernel.contains(2));
  EXPECT_TRUE(Holds(solved.by_kernel.at(1).at("bf16"), 100));
}

TEST(FlopSolverTest, FindsSeveralKernelsOfWarps) {
  const FlopPrior prior = {{1, Told(102)}, {2, Unknown(300)}, {3, Unknown(70)}, {4, Unknown(40)}};
  const std::vector<CountedMix> mixes = {Mix({{1, 1}, {2, 1}, {4, 1}}, 142, 0, true),
                                         Mix({{1, 1}, {3, 1}, {4, 2}}, 182, 0, true)};
  const SolvedFlops solved = SolveFlops(mixes, prior);
  EXPECT_EQ(solved.warp_mma, (std::set<uint32_t>{2, 3}));
  EXPECT_TRUE(Holds(solved.by_kernel.at(4).at("bf16"), 40));
}

// What their names tell is off by no more than the counts are.
TEST(FlopSolverTest, ASmallContradictionLeavesSamplesTheirWorth) {
  const FlopPrior prior = {{1, Told(100)}, {2, Told(60)}, {3, Told(40)}};
  const std::vector<CountedMix> mixes = {Mix({{1, 1}, {2, 1}, {3, 1}}, 180, 0, true)};
  SolvedFlops solved = SolveFlops(mixes, prior);
  for (const auto& [kernel, sampled] : {std::pair(1u, 100.0), {2u, 60.0}, {3u, 40.0}}) {
    const CalibratedFlops& flops = solved.by_kernel[kernel]["bf16"];
    EXPECT_NEAR(flops.per_launch, sampled, 0.2 * sampled) << kernel;
    EXPECT_LT(flops.error, 0.12 * sampled) << kernel;
    EXPECT_TRUE(Holds(flops, 0.9 * sampled)) << kernel;
  }
}

TEST(FlopSolverTest, NamesThatCountsContradictAreLessCertain) {
  // Two kernels could be the one of warps, or a rate is wrong: nobody knows.
  const FlopPrior prior = {{1, Told(100)}, {2, Unknown(50)}, {3, Unknown(50)}};
  const std::vector<CountedMix> mixes = {Mix({{1, 1}, {2, 1}, {3, 1}}, 150, 0, true)};
  SolvedFlops solved = SolveFlops(mixes, prior);
  EXPECT_TRUE(solved.warp_mma.empty());
  for (const auto& [kernel, truth] : {std::pair(1u, 100.0), {2u, 50.0}, {3u, 0.0}}) {
    EXPECT_TRUE(Holds(solved.by_kernel[kernel]["bf16"], truth)) << kernel;
  }
  // A name that tells another type than the counts.
  const std::vector<CountedMix> other = {Mix({{1, 1}, {2, 1}}, 0, 200, false)};
  solved = SolveFlops(other, {{1, Told(100)}, {2, Told(100)}});
  EXPECT_NEAR(solved.by_kernel[1]["tf32"].per_launch, 100, 0.5);
  EXPECT_EQ(solved.by_kernel[1]["bf16"].per_launch, 0);
  EXPECT_EQ(solved.by_kernel[1]["bf16"].error, 0) << "what did none together did none alone";
}

TEST(FlopSolverTest, WhatIsHeldAtZeroKeepsItsError) {
  // The second kernel would come out below zero: the first alone did more than was counted.
  FlopPrior prior = {{1, Told(100)}, {2, Told(20)}};
  prior[2].by_type["bf16"].contradicted_error = 40;
  const std::vector<CountedMix> mixes = {Mix({{1, 1}, {2, 4}}, 60, 0, false)};
  auto solved = SolveFlops(mixes, prior).by_kernel;
  EXPECT_EQ(solved[2]["bf16"].per_launch, 0);
  EXPECT_GT(solved[2]["bf16"].error, 1);
}

}  // namespace
}  // namespace utlz
