#include "inject/record/recent_work.h"

#include <gtest/gtest.h>

namespace utlz::agent {
namespace {

constexpr uint64_t kPieceNs = RecentWork::kPieceNs;
constexpr uint64_t kNowNs = 1'796'000'000'000'000'000 / kPieceNs * kPieceNs;
constexpr uint64_t kLookedAtNs = RecentWork::kPiecesLookedAt * kPieceNs;

TEST(RecentWorkTest, AddsUpTheTimeBefore) {
  RecentWork recent;
  recent.AddLaunch(kNowNs - kLookedAtNs - 1, kNowNs, false);  // before it
  recent.AddLaunch(kNowNs - kLookedAtNs, kNowNs - kLookedAtNs + 30, false);
  recent.AddLaunch(kNowNs - 1, kNowNs + 69, true);
  recent.AddLoad(kNowNs - 5);
  recent.AddLaunch(kNowNs, kNowNs + 1000, false);  // after it
  const WorkSums sums = recent.Before(kNowNs + kPieceNs / 2);
  EXPECT_EQ(sums.launches, 1u);
  EXPECT_EQ(sums.graph_nodes, 1u);
  EXPECT_EQ(sums.busy_ns, 100u);
  EXPECT_EQ(sums.loads, 1u);
  EXPECT_EQ(sums.time_ns, kLookedAtNs);
}

TEST(RecentWorkTest, KnowsItsPieces) {
  RecentWork recent;
  const uint64_t number = kNowNs / kPieceNs;
  recent.AddLaunch(kNowNs, kNowNs + 10, false);
  recent.AddLaunch(kNowNs + kPieceNs - 1, kNowNs + kPieceNs + 19, false);
  recent.AddLaunch(kNowNs + kPieceNs, kNowNs + kPieceNs + 1000, false);
  EXPECT_EQ(recent.Of(number).launches, 2u);
  EXPECT_EQ(recent.Of(number).busy_ns, 30u);
  EXPECT_EQ(recent.Of(number).time_ns, kPieceNs);
  EXPECT_EQ(recent.Of(number - 1).launches, 0u);
  recent.AddLaunch(kNowNs + 32 * kPieceNs, kNowNs + 33 * kPieceNs, false);  // takes its place
  EXPECT_EQ(recent.Of(number).launches, 0u);
}

TEST(RecentWorkTest, TimeWithoutRecordsIsTimeInWhichNothingRan) {
  RecentWork recent;
  recent.AddLaunch(kNowNs, kNowNs + 10, false);
  const WorkSums sums = recent.Before(kNowNs + 10 * kLookedAtNs);
  EXPECT_EQ(sums.launches, 0u);
  EXPECT_EQ(sums.time_ns, kLookedAtNs);
}

TEST(RecentWorkTest, AProgramThatHasJustBegunIsKnownByWhatItDidSince) {
  RecentWork recent;
  EXPECT_EQ(recent.SinceFirstLaunchBefore(kNowNs).time_ns, 0u);
  recent.AddLaunch(kNowNs - 5 * kPieceNs, kNowNs - 4 * kPieceNs, true);
  recent.AddLaunch(kNowNs - kPieceNs, kNowNs - 1, false);
  const WorkSums sums = recent.SinceFirstLaunchBefore(kNowNs);
  EXPECT_EQ(sums.time_ns, 5 * kPieceNs);
  EXPECT_EQ(sums.launches, 1u);
  EXPECT_EQ(sums.graph_nodes, 1u);
}

TEST(RecentWorkTest, OldRecordsDoNotPushOutNewOnes) {
  RecentWork recent;
  recent.AddLaunch(kNowNs, kNowNs + 10, false);
  recent.AddLaunch(kNowNs - 32 * kPieceNs, kNowNs, false);  // its place is taken
  EXPECT_EQ(recent.Before(kNowNs + kPieceNs).launches, 1u);
  recent.AddLaunch(0, 5, false);  // no time at all
  EXPECT_EQ(recent.Before(kNowNs + kPieceNs).launches, 1u);
}

TEST(RecentWorkTest, PiecesTakeTurns) {
  RecentWork recent;
  for (int i = 0; i < 3; ++i) {
    recent.AddLaunch(kNowNs - 1, kNowNs, false);
    recent.AddLaunch(kNowNs, kNowNs + 2, false);
  }
  EXPECT_EQ(recent.Before(kNowNs).busy_ns, 3u);
  EXPECT_EQ(recent.Before(kNowNs + kPieceNs).busy_ns, 9u);
}

TEST(RecentWorkTest, AnEndBeforeTheStartIsNoTime) {
  RecentWork recent;
  recent.AddLaunch(kNowNs, kNowNs - 10, false);
  EXPECT_EQ(recent.Before(kNowNs + kPieceNs).busy_ns, 0u);
}

}  // namespace
}  // namespace utlz::agent
