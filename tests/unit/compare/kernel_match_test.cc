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

TEST(KernelMatchTest, KindsThatOneSideAloneHasAreJoined) {
  const auto add_kind = [](Summary& run, const char* kind, double time_ns, double flops) {
    KernelSummary* kernel = AddKernel(run, "gemm", 1, 10, time_ns);
    kernel->set_variant_label(kind);
    kernel->set_short_name(std::string("gemm ") + kind);
    if (flops > 0) kernel->set_flops(flops);
  };
  Summary before;
  add_kind(before, "kind 1", 100, 1e9);
  add_kind(before, "kind 2", 300, 3e9);
  AddKernel(before, "other", 1, 10, 50);
  Summary after;
  add_kind(after, "kind 1", 100, 1e9);
  add_kind(after, "kind 2", 150, 1.5e9);
  add_kind(after, "kind 3", 150, 0);
  AddKernel(after, "other", 1, 10, 50);
  std::vector<KernelGroup> groups_before = GroupKernels({before}, {1});
  std::vector<KernelGroup> groups_after = GroupKernels({after}, {1});
  ASSERT_EQ(groups_after.size(), 4u);
  const std::vector<KernelGroup> same = groups_before;
  std::vector<KernelGroup> again = same;
  std::vector<KernelGroup> other = same;
  JoinUnequalKinds(&again, &other);
  EXPECT_EQ(again.size(), same.size()) << "the sides agree";

  JoinUnequalKinds(&groups_before, &groups_after);
  ASSERT_EQ(groups_before.size(), 2u);
  ASSERT_EQ(groups_after.size(), 2u);
  const auto gemm = [](const std::vector<KernelGroup>& groups) {
    return groups[0].function == "gemm" ? groups[0] : groups[1];
  };
  EXPECT_EQ(gemm(groups_before).short_name, "gemm");
  EXPECT_EQ(gemm(groups_before).time_ns[0]->value, 400);
  EXPECT_EQ(gemm(groups_before).flops[0]->value, 4e9);
  EXPECT_EQ(gemm(groups_after).time_ns[0]->value, 400);
  EXPECT_EQ(gemm(groups_after).launches[0]->value, 30);
  EXPECT_FALSE(gemm(groups_after).flops[0].has_value()) << "of one kind it is not known";
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
