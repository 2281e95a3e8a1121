#include "inject/tracing/host_cost.h"

#include <gtest/gtest.h>

namespace utlz::agent {
namespace {

constexpr uint64_t kStartNs =
    1'796'000'000'000'000'000 / RecentWork::kPieceNs * RecentWork::kPieceNs;

class HostCostTest : public testing::Test {
 protected:
  HostCostTest() { cost_.AddUntil(kStartNs, recent_); }

  // One piece after the other: launches at the same distances, and the share of it in which the
  // GPU idles.
  void Launch(uint64_t launches, double idle_share) {
    const auto busy_ns =
        static_cast<uint64_t>((1 - idle_share) * static_cast<double>(RecentWork::kPieceNs));
    for (uint64_t i = 0; i < launches; ++i) {
      const uint64_t start_ns = piece_ns_ + i * (RecentWork::kPieceNs / launches);
      recent_.AddLaunch(start_ns, start_ns + busy_ns / launches, false);
    }
    piece_ns_ += RecentWork::kPieceNs;
  }
  // Of a launch, with the least figure.
  uint64_t PriceOf(uint64_t launches) {
    const uint64_t before_ns = cost_.ns();
    cost_.AddUntil(piece_ns_, recent_);
    return kTracedLaunchNs + (cost_.ns() - before_ns) / launches;
  }

  RecentWork recent_;
  HostCost cost_;
  uint64_t piece_ns_ = kStartNs;
};

TEST_F(HostCostTest, IsAShareOfTheTimeBetweenLaunches) {
  Launch(2000, 0.5);
  EXPECT_EQ(PriceOf(2000), 5000u);
  Launch(2500, 1);
  EXPECT_EQ(PriceOf(2500), 4000u);
}

TEST_F(HostCostTest, HasALeastAndAMost) {
  Launch(100'000, 1);
  EXPECT_EQ(PriceOf(100'000), kTracedLaunchNs);
  Launch(10, 1);
  EXPECT_EQ(PriceOf(10), kMostTracedLaunchNs);
  Launch(0, 1);
  EXPECT_EQ(PriceOf(1), kTracedLaunchNs);
}

TEST_F(HostCostTest, IsFeltAsFarAsTheGpuWaits) {
  Launch(2000, kIdleOfHostBound / 2);
  EXPECT_NEAR(static_cast<double>(PriceOf(2000)), 2500, 2);
  Launch(2000, 0);
  EXPECT_EQ(PriceOf(2000), kTracedLaunchNs);
}

// The price of sparse launches at a start is no price of the dense ones that follow.
TEST_F(HostCostTest, EachPieceHasItsOwn) {
  Launch(10, 1);
  Launch(5000, 1);
  cost_.AddUntil(piece_ns_, recent_);
  EXPECT_EQ(cost_.ns(),
            10 * (kMostTracedLaunchNs - kTracedLaunchNs) + 5000 * (2000 - kTracedLaunchNs));
}

TEST_F(HostCostTest, WaitsForWholePieces) {
  Launch(2000, 1);
  cost_.AddUntil(piece_ns_ - 1, recent_);
  EXPECT_EQ(cost_.ns(), 0u);
  cost_.AddUntil(piece_ns_, recent_);
  const uint64_t once_ns = cost_.ns();
  EXPECT_GT(once_ns, 0u);
  cost_.AddUntil(piece_ns_, recent_);
  EXPECT_EQ(cost_.ns(), once_ns);
}

// Each piece is looked at under the lock that CUPTI's callbacks wait for: half a million years of
// pieces would hold the program up for days.
TEST_F(HostCostTest, AClockSetForwardIsNoLongWork) {
  Launch(2000, 1);
  cost_.AddUntil(UINT64_MAX, recent_);
  EXPECT_EQ(cost_.ns(), 0u) << "the piece is not kept any more";
}

TEST_F(HostCostTest, BeginsWithTheFirstCall) {
  Launch(2000, 1);
  HostCost late;
  late.AddUntil(piece_ns_, recent_);
  EXPECT_EQ(late.ns(), 0u);
}

}  // namespace
}  // namespace utlz::agent
