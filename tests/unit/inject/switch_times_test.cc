#include "inject/record/switch_times.h"

#include <gtest/gtest.h>

namespace utlz::agent {
namespace {

constexpr bool kKernel = false;
constexpr bool kNode = true;

TEST(SwitchTimes, CutsWhatRanAcrossASwitchOff) {
  for (const bool node : {kKernel, kNode}) {
    SwitchTimes times;
    times.SwitchedOn(1000);
    EXPECT_FALSE(times.Cut(1500, 9'000'000, node)) << "tracing is on";
    times.SwitchedOff(2000);
    EXPECT_FALSE(times.Cut(1500, 1900, node));
    EXPECT_FALSE(times.Cut(1000, 2000, node)) << "from end to end";
    EXPECT_TRUE(times.Cut(1990, 2001, node));
    EXPECT_TRUE(times.Cut(1990, 280'000'000, node)) << "an end that was read late";
  }
}

TEST(SwitchTimes, KnowsWhatWasHardlyTraced) {
  constexpr uint64_t kMs = 1'000'000;
  SwitchTimes times;
  EXPECT_TRUE(times.HardlyTracedSince(5 * kMs)) << "never on so far";
  times.SwitchedOn(1'000 * kMs);
  EXPECT_FALSE(times.HardlyTracedSince(999 * kMs)) << "it is on";
  times.SwitchedOff(2'000 * kMs);
  EXPECT_FALSE(times.HardlyTracedSince(500 * kMs)) << "for all of the window";
  EXPECT_FALSE(times.HardlyTracedSince(1'900 * kMs));
  EXPECT_TRUE(times.HardlyTracedSince(1'990 * kMs)) << "what it begins may come after the window";
  EXPECT_TRUE(times.HardlyTracedSince(2'100 * kMs));
}

TEST(SwitchTimes, CutsNodesThatStartWhileItIsSwitchedOff) {
  SwitchTimes times;
  times.SwitchedOn(1000);
  times.SwitchedOff(2000);
  EXPECT_TRUE(times.Cut(2400, 480'000'000, kNode)) << "the rest of a graph's replay";
  times.SwitchedOn(5'000'000);
  EXPECT_TRUE(times.Cut(2400, 480'000'000, kNode)) << "handed over with the next window's";
}

TEST(SwitchTimes, CutsRecordsThatComeWithTheNextWindow) {
  for (const bool node : {kKernel, kNode}) {
    SwitchTimes times;
    times.SwitchedOn(1000);
    times.SwitchedOff(2000);
    times.SwitchedOn(5000);
    EXPECT_TRUE(times.Cut(1990, 5100, node));
    EXPECT_FALSE(times.Cut(5000, 5100, node));
    EXPECT_FALSE(times.Cut(1500, 1900, node)) << "handed over late, and right";
    times.SwitchedOff(6000);
    times.SwitchedOn(7000);
    EXPECT_TRUE(times.Cut(1990, 5100, node));
    EXPECT_TRUE(times.Cut(5990, 7100, node));
  }
}

TEST(SwitchTimes, AKernelBetweenWindowsIsWhatItSays) {
  SwitchTimes times;
  times.SwitchedOn(1000);
  times.SwitchedOff(2000);
  EXPECT_FALSE(times.Cut(2500, 2600, kKernel)) << "launched before, and run after it";
}

}  // namespace
}  // namespace utlz::agent
