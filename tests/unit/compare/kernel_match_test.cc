#include "tools/compare/kernel_match.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

KernelSummary* AddKernel(Summary& run, const std::string& name, uint32_t grid, uint64_t launches,
                         double time_ns) {
  KernelSummary* kernel = run.add_kernels();
  kernel->set_mangled_name(name);
  kernel->set_short_name(name);
  kernel->add_grid(grid);
  kernel->add_block(128);
  kernel->set_launches(launches);
  kernel->set_time_ns(time_ns);
  return kernel;
}

struct Matched {
  std::vector<KernelGroup> before;
  std::vector<KernelGroup> after;
  std::vector<KernelMatch> matches;
};

Matched Match(const Summary& before, const Summary& after) {
  Matched result{GroupKernels({before}, {1}), GroupKernels({after}, {1}), {}};
  result.matches = MatchKernels(result.before, result.after);
  return result;
}

TEST(KernelMatchTest, ShapeComesBeforeName) {
  Summary before;
  AddKernel(before, "f", 1, 10, 100);
  AddKernel(before, "f", 2, 10, 200);
  Summary after;
  AddKernel(after, "f", 2, 10, 100);
  AddKernel(after, "f", 4, 10, 400);
  const Matched matched = Match(before, after);
  ASSERT_EQ(matched.matches.size(), 2u);
  EXPECT_EQ(matched.matches[0].by, MatchedBy::kNameAndShape);
  EXPECT_EQ(matched.matches[0].before->shape, "grid 2, block 128");
  EXPECT_EQ(matched.matches[1].by, MatchedBy::kName);
  EXPECT_EQ(matched.matches[1].before->shape, "grid 1, block 128");
  EXPECT_EQ(matched.matches[1].after->shape, "grid 4, block 128");
}

TEST(KernelMatchTest, AnotherGemmWithTheSameFlopsPlaysTheRole) {
  Summary before;
  AddKernel(before, "ampere_bf16_gemm_128x128", 1, 24, 1000)->set_flops(1e12);
  AddKernel(before, "cutlass_gemm_64", 1, 24, 1000)->set_flops(3e12);
  Summary after;
  AddKernel(after, "nvjet_tst_256x128", 9, 24, 500)->set_flops(1.01e12);
  const Matched matched = Match(before, after);
  ASSERT_EQ(matched.matches.size(), 2u);
  EXPECT_EQ(matched.matches[0].by, MatchedBy::kRole);
  EXPECT_EQ(matched.matches[0].before->function, "ampere_bf16_gemm_128x128");
  EXPECT_EQ(matched.matches[1].after, nullptr);
}

TEST(KernelMatchTest, OtherLaunchCountsOrClassesPlayNoRole) {
  Summary before;
  AddKernel(before, "gemm_a", 1, 24, 1000)->set_flops(1e12);
  AddKernel(before, "softmax_a", 1, 24, 1000)->set_flops(1e9);
  Summary after;
  AddKernel(after, "gemm_b", 1, 48, 1000)->set_flops(1e12);
  AddKernel(after, "elementwise_b", 1, 24, 1000)->set_flops(1e9);
  for (const KernelMatch& match : Match(before, after).matches) {
    EXPECT_EQ(match.by, MatchedBy::kNothing);
  }
}

TEST(KernelMatchTest, DevicesAndProcessesAreSummed) {
  Summary run;
  AddKernel(run, "f", 1, 10, 100)->set_flops(5);
  AddKernel(run, "f", 1, 30, 300)->set_flops(7);
  const std::vector<KernelGroup> groups = GroupKernels({run}, {2});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_DOUBLE_EQ(groups[0].launches[0]->value, 20);
  EXPECT_DOUBLE_EQ(groups[0].time_ns[0]->value, 200);
  EXPECT_DOUBLE_EQ(groups[0].flops[0]->value, 6);
}

TEST(KernelMatchTest, ASumWithAnUnknownPartIsUnknown) {
  Summary run;
  AddKernel(run, "f", 1, 10, 100)->set_flops(5);
  AddKernel(run, "f", 1, 30, 300);
  EXPECT_FALSE(GroupKernels({run}, {1})[0].flops[0].has_value());
}

TEST(KernelMatchTest, ReadsClassesFromNames) {
  EXPECT_EQ(KernelClass("flash_fwd_kernel_gemm"), "attention");
  EXPECT_EQ(KernelClass("ncclDevKernel_AllReduce_Sum_bf16_RING"), "communication");
  EXPECT_EQ(KernelClass("sm90_xmma_GEMM_bf16"), "matrix product");
  EXPECT_EQ(KernelClass("my_kernel"), "");
}

}  // namespace
}  // namespace utlz
