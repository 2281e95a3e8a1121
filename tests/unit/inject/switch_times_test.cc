#include "inject/switch_times.h"

#include <gtest/gtest.h>

namespace utlz::inject {
namespace {

TEST(SwitchTimes, CutsWhatRanAcrossASwitchOff) {
  SwitchTimes times;
  times.SwitchedOn(1000);
  EXPECT_FALSE(times.Cut(1500, 9'000'000)) << "tracing is on";
  times.SwitchedOff(2000);
  EXPECT_FALSE(times.Cut(1500, 1900));
  EXPECT_TRUE(times.Cut(1990, 2005));
  EXPECT_TRUE(times.Cut(1990, 280'000'000)) << "an end that was read late";
}

TEST(SwitchTimes, CutsRecordsThatComeWithTheNextWindow) {
  SwitchTimes times;
  times.SwitchedOn(1000);
  times.SwitchedOff(2000);
  times.SwitchedOn(5000);
  EXPECT_TRUE(times.Cut(1990, 5100));
  EXPECT_FALSE(times.Cut(5000, 5100));
  EXPECT_FALSE(times.Cut(1500, 1900)) << "handed over late, and right";
  times.SwitchedOff(6000);
  times.SwitchedOn(7000);
  EXPECT_TRUE(times.Cut(1990, 5100));
  EXPECT_TRUE(times.Cut(5990, 7100));
}

TEST(SwitchTimes, WorkBetweenWindowsIsWhatItSays) {
  SwitchTimes times;
  times.SwitchedOn(1000);
  times.SwitchedOff(2000);
  EXPECT_FALSE(times.Cut(2500, 2600));
}

}  // namespace
}  // namespace utlz::inject
