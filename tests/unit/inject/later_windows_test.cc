#include "inject/tracing/later_windows.h"

#include <gtest/gtest.h>

#include "proto/tracing_cost.h"
#include "tests/support/nanoseconds.h"

namespace utlz::agent {
namespace {

constexpr uint32_t kBudgetPpm = 10'000;
constexpr uint64_t kPauseNs = 5 * kSecondNs;

// A second in which the GPU idled for this share of it.
WorkSums SecondOf(uint64_t launches, double idle_share) {
  WorkSums sums;
  sums.launches = launches;
  sums.busy_ns = static_cast<uint64_t>((1 - idle_share) * 1e9);
  sums.time_ns = kSecondNs;
  return sums;
}

WorkSums HostBound() { return SecondOf(65'000, 0.85); }

class LaterWindowsTest : public ::testing::Test {
 protected:
  LaterWindowsTest() { Begin(LaterPolicy::kAuto); }

  void Begin(LaterPolicy policy) {
    later_ = LaterWindows();
    later_.Start(policy, kBudgetPpm, /*from_start=*/true);
  }
  bool DecideOn(const WorkSums& sums) {
    later_.Paused(kPauseNs, /*pausable=*/true);
    return later_.Decide(sums, /*known_kernels=*/100);
  }

  LaterWindows later_;
};

TEST_F(LaterWindowsTest, AProgramThatWaitsForItsLaunchesIsRecordedOnce) {
  EXPECT_TRUE(later_.MayTrace());
  later_.Paused(kPauseNs, true);
  EXPECT_FALSE(later_.MayTrace()) << "a window would leave the hook in for good";
  EXPECT_FALSE(later_.Due(kPauseNs + LaterWindows::kDecisionNs - 1));
  EXPECT_TRUE(later_.Due(kPauseNs + LaterWindows::kDecisionNs));
  EXPECT_TRUE(later_.Decide(HostBound(), 100));
  EXPECT_EQ(later_.state(), RecordsState::kEnded);
  EXPECT_FALSE(later_.MayTrace());
  EXPECT_FALSE(later_.Due(10 * kPauseNs));
}

TEST_F(LaterWindowsTest, AProgramWhoseGpuIsBusyHasWindows) {
  EXPECT_FALSE(DecideOn(SecondOf(65'000, 0)));
  EXPECT_EQ(later_.state(), RecordsState::kWindows);
  EXPECT_TRUE(later_.MayTrace());
}

TEST_F(LaterWindowsTest, AProgramWithFewLaunchesHasWindows) {
  // However much a launch costs, these cost less than the budget allows in a second.
  const auto most =
      static_cast<uint64_t>(kBudgetPpm * 1000 / kHookShareOfTracedLaunch / kMostTracedLaunchNs);
  EXPECT_FALSE(DecideOn(SecondOf(most, 1)));
  Begin(LaterPolicy::kAuto);
  EXPECT_TRUE(DecideOn(SecondOf(most + 100, 1)));
}

// A training of small pictures: 5,800 launches a second, of which tracing made 8 to 14 % of the
// time between two.
TEST_F(LaterWindowsTest, AProgramThatDoesMuchBetweenLaunchesPaysForColdCaches) {
  EXPECT_TRUE(DecideOn(SecondOf(5'800, 0.5)));
}

TEST_F(LaterWindowsTest, AGpuThatIdlesSeldomMakesTheHookCheaper) {
  EXPECT_TRUE(DecideOn(SecondOf(21'000, kIdleOfHostBound)));
  Begin(LaterPolicy::kAuto);
  EXPECT_FALSE(DecideOn(SecondOf(21'000, kIdleOfHostBound / 8)));
}

TEST_F(LaterWindowsTest, EndsWithAPeer) {
  const WorkSums busy = SecondOf(65'000, 0);
  later_.SetPeers(PeersVote::kEnded);
  EXPECT_TRUE(DecideOn(busy));
  EXPECT_EQ(later_.vote(), RecordsVote::kEnded);
  Begin(LaterPolicy::kAuto);
  later_.SetPeers(PeersVote::kUndecided);
  EXPECT_FALSE(DecideOn(busy));
  EXPECT_EQ(later_.vote(), RecordsVote::kWindows);
}

TEST_F(LaterWindowsTest, PeersThatMayEndAreAwaited) {
  const WorkSums busy = SecondOf(65'000, 0);
  EXPECT_EQ(later_.vote(), RecordsVote::kUndecided);
  later_.Paused(kPauseNs, true);
  EXPECT_EQ(later_.vote(), RecordsVote::kUndecided);
  later_.SetPeers(PeersVote::kUndecided);
  EXPECT_TRUE(later_.AwaitsPeers(kPauseNs + LaterWindows::kDecisionNs, busy));
  EXPECT_EQ(later_.vote(), RecordsVote::kWindows) << "peers must not wait for each other";
  EXPECT_FALSE(later_.AwaitsPeers(kPauseNs + LaterWindows::kLongestPeerWaitNs, busy));
  EXPECT_FALSE(later_.AwaitsPeers(kPauseNs, HostBound())) << "it ends anyway";
  EXPECT_EQ(later_.vote(), RecordsVote::kUndecided);
  later_.SetPeers(PeersVote::kNone);
  EXPECT_FALSE(later_.AwaitsPeers(kPauseNs, busy));
}

TEST_F(LaterWindowsTest, WhatPeersDecideIsNotForAll) {
  WorkSums sums = SecondOf(65'000, 0);
  sums.loads = LaterWindows::kFewLoads + 1;
  later_.SetPeers(PeersVote::kEnded);
  EXPECT_FALSE(DecideOn(sums)) << "it still begins";
  Begin(LaterPolicy::kAuto);
  sums.loads = 0;
  sums.graph_nodes = sums.launches;
  later_.SetPeers(PeersVote::kUndecided);
  later_.Paused(kPauseNs, true);
  EXPECT_FALSE(later_.AwaitsPeers(kPauseNs, sums)) << "it replays graphs";
  later_.SetPeers(PeersVote::kEnded);
  EXPECT_FALSE(later_.WouldEnd(sums));
  Begin(LaterPolicy::kAlways);
  later_.SetPeers(PeersVote::kEnded);
  EXPECT_EQ(later_.vote(), RecordsVote::kWindows);
}

TEST_F(LaterWindowsTest, AProgramThatStillBeginsHasWindows) {
  WorkSums sums = HostBound();
  sums.loads = LaterWindows::kFewLoads + 1;
  EXPECT_FALSE(DecideOn(sums));
}

TEST_F(LaterWindowsTest, RecordsGoOnWhileAProgramBegins) {
  WorkSums sums = HostBound();
  EXPECT_FALSE(later_.HoldsOn(sums, 0));
  sums.loads = LaterWindows::kFewLoads + 1;
  EXPECT_TRUE(later_.HoldsOn(sums, LaterWindows::kMostCostWhileBeginningNs - 1));
  EXPECT_FALSE(later_.HoldsOn(sums, LaterWindows::kMostCostWhileBeginningNs));
  later_.SwitchedOn();
  EXPECT_FALSE(later_.HoldsOn(sums, 0)) << "there is nothing to win any more";
}

TEST(LaterWindowsHookTest, CostsAsFarAsTheGpuWaits) {
  EXPECT_EQ(LaterWindows::HookShare({}), 0);
  EXPECT_EQ(LaterWindows::HookShare(SecondOf(65'000, 0)), 0);
  const double felt = 0.1 / kIdleOfHostBound;
  EXPECT_NEAR(LaterWindows::HookShare(SecondOf(14'700, 0.1)),
              felt * kHookShareOfTracedLaunch * kTracedShareOfLaunch * felt, 1e-4);
}

// What a beginning keeps for windows it cannot spend on itself.
TEST_F(LaterWindowsTest, WindowsFollowWhereTheGpuIsKnownToBeBusy) {
  EXPECT_FALSE(later_.WindowsFollow(HostBound()));
  WorkSums busy = SecondOf(65'000, 0);
  EXPECT_TRUE(later_.WindowsFollow(busy));
  busy.loads = LaterWindows::kFewLoads + 1;
  EXPECT_FALSE(later_.WindowsFollow(busy)) << "it still begins";
  busy.loads = 0;
  busy.time_ns = LaterWindows::kLeastTimeKnownNs - 1;
  EXPECT_FALSE(later_.WindowsFollow(busy)) << "too little is known";
  WorkSums graphs = HostBound();
  graphs.graph_nodes = graphs.launches;
  EXPECT_TRUE(later_.WindowsFollow(graphs));
  Begin(LaterPolicy::kNever);
  EXPECT_FALSE(later_.WindowsFollow(SecondOf(65'000, 0)));
  Begin(LaterPolicy::kAlways);
  EXPECT_TRUE(later_.WindowsFollow(HostBound()));
}

TEST_F(LaterWindowsTest, APauseOfWindowsDecidesNothing) {
  later_.SwitchedOn();
  later_.Paused(kPauseNs, true);
  EXPECT_TRUE(later_.MayTrace());
  EXPECT_FALSE(later_.Due(10 * kPauseNs));
}

TEST_F(LaterWindowsTest, NodesOfGraphsWouldGoOnBeingRecorded) {
  WorkSums sums = HostBound();
  sums.graph_nodes = sums.launches / LaterWindows::kLaunchesANode + 1;
  EXPECT_FALSE(DecideOn(sums));
}

TEST_F(LaterWindowsTest, MuchNewWorkBringsWindowsBack) {
  ASSERT_TRUE(DecideOn(HostBound()));
  later_.SawNewWork(24);
  EXPECT_FALSE(later_.MayTrace()) << "less than a quarter of the 100 kernels that are known";
  later_.SawNewWork(1);
  EXPECT_TRUE(later_.MayTrace());
}

TEST_F(LaterWindowsTest, ThePolicyOverrides) {
  Begin(LaterPolicy::kAlways);
  EXPECT_EQ(later_.state(), RecordsState::kWindows);
  Begin(LaterPolicy::kNever);
  EXPECT_TRUE(DecideOn(SecondOf(10, 0)));
  later_.SawNewWork(1'000'000);
  EXPECT_FALSE(later_.MayTrace());
}

TEST_F(LaterWindowsTest, WhatBeganLateOrIsNotPausableHasWindows) {
  later_.Start(LaterPolicy::kAuto, kBudgetPpm, /*from_start=*/false);
  EXPECT_EQ(later_.state(), RecordsState::kWindows);
  Begin(LaterPolicy::kAuto);
  later_.Paused(kPauseNs, /*pausable=*/false);
  EXPECT_EQ(later_.state(), RecordsState::kWindows);
  later_.Start(LaterPolicy::kAuto, /*budget_ppm=*/0, /*from_start=*/true);
  EXPECT_EQ(later_.state(), RecordsState::kWindows) << "without a budget all is recorded";
}

}  // namespace
}  // namespace utlz::agent
