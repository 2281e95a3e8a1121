#include "collector/timeline/gap_sites.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

constexpr uint64_t kLongNs = 2 * GapSites::kShortestNs;

Activity KernelAt(uint64_t start_ns, uint64_t end_ns, uint32_t kernel) {
  return {.start_ns = start_ns,
          .end_ns = end_ns,
          .kernel = kernel,
          .stream = 0,
          .context = 0,
          .source = 0,
          .kind = ActivityKind::kCompute};
}

Activity CopyAt(uint64_t start_ns, uint64_t end_ns) {
  Activity copy = KernelAt(start_ns, end_ns, kNoKernel);
  copy.kind = ActivityKind::kHostToDevice;
  return copy;
}

TEST(GapSitesTest, NamesTheKernelsOnBothSides) {
  GapSites sites;
  sites.Add(KernelAt(0, 100, 1));
  sites.Add(KernelAt(100 + kLongNs, 200 + kLongNs, 2));
  sites.Add(KernelAt(300 + 2 * kLongNs, 400 + 2 * kLongNs, 1));
  ASSERT_EQ(sites.gaps().size(), 2u);
  EXPECT_EQ(sites.gaps()[0].start_ns, 100u);
  EXPECT_EQ(sites.gaps()[0].end_ns, 100 + kLongNs);
  EXPECT_EQ(sites.gaps()[0].before, 1u);
  EXPECT_EQ(sites.gaps()[0].after, 2u);
  EXPECT_TRUE(sites.gaps()[0].first_launch);
  EXPECT_FALSE(sites.gaps()[1].first_launch) << "kernel 1 ran before";
}

TEST(GapSitesTest, LeavesOutShortGapsAndThoseBesideCopies) {
  GapSites sites;
  sites.Add(KernelAt(0, 100, 1));
  sites.Add(KernelAt(100 + GapSites::kShortestNs - 1, kLongNs, 2));
  sites.Add(CopyAt(2 * kLongNs, 2 * kLongNs + 10));
  sites.Add(KernelAt(4 * kLongNs, 5 * kLongNs, 1));
  EXPECT_TRUE(sites.gaps().empty());
}

// A long kernel runs on while a short one comes and goes.
TEST(GapSitesTest, AGapBeginsWhenTheLastKernelEnds) {
  GapSites sites;
  sites.Add(KernelAt(0, 1000, 1));
  sites.Add(KernelAt(100, 200, 2));
  sites.Add(KernelAt(1000 + kLongNs, 2000 + kLongNs, 3));
  ASSERT_EQ(sites.gaps().size(), 1u);
  EXPECT_EQ(sites.gaps()[0].start_ns, 1000u);
  EXPECT_EQ(sites.gaps()[0].before, 1u);
}

}  // namespace
}  // namespace utlz
