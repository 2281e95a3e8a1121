#include "collector/sampler/set_turns.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

// Busy windows until the extended set has its next turn.
uint64_t UntilExtended(SetTurns* turns) {
  uint64_t windows = 0;
  for (; turns->next() == SampledSet::kBase && windows < 1000; ++windows) turns->BusyWindow();
  return windows;
}

void Take(SampledSet set, uint64_t windows, SetTurns* turns) {
  for (uint64_t i = 0; i < windows; ++i) {
    EXPECT_EQ(turns->next(), set);
    turns->BusyWindow();
  }
}

TEST(SetTurnsTest, TheOtherSetsComeOnceARoundAndTheirWindowsFollowEachOther) {
  SetTurns turns;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(UntilExtended(&turns), round == 0
                                         ? SetTurns::kFirstBaseWindows
                                         : SetTurns::kWindowsPerRound - SetTurns::kExtendedWindows -
                                               SetTurns::kInstructionWindows);
    Take(SampledSet::kExtended, SetTurns::kExtendedWindows, &turns);
    Take(SampledSet::kInstructions, SetTurns::kInstructionWindows, &turns);
  }
}

TEST(SetTurnsTest, WhileTheBaseSetIsNotKnownItComesFirst) {
  SetTurns turns;
  turns.BaseKnown(false);
  EXPECT_EQ(UntilExtended(&turns), SetTurns::kMostFirstBaseWindows) << "but not for ever";
}

TEST(SetTurnsTest, OnceTheBaseSetIsKnownTheExtendedSetHasItsTurn) {
  SetTurns turns;
  turns.BaseKnown(false);
  for (int i = 0; i < 50; ++i) turns.BusyWindow();
  EXPECT_EQ(turns.next(), SampledSet::kBase);
  turns.BaseKnown(true);
  EXPECT_EQ(turns.next(), SampledSet::kExtended);
  turns.BaseKnown(false);
  EXPECT_EQ(turns.next(), SampledSet::kExtended) << "a turn that has begun goes on";
}

TEST(SetTurnsTest, AnEarlyVisitHasTheBaseSetFirst) {
  SetTurns turns;
  turns.BaseKnown(true);
  EXPECT_EQ(UntilExtended(&turns), SetTurns::kFirstBaseWindows);
}

}  // namespace
}  // namespace utlz
