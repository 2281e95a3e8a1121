#include "collector/run/launch_plausibility.h"

#include <gtest/gtest.h>

#include "collector/run/run_reach.h"

namespace utlz {
namespace {

constexpr uint64_t kFirstLaunchNs = 1'000'000'000;
constexpr uint64_t kUsualNs = 100'000;

// A kernel whose launches took 100 µs each so far.
class LaunchPlausibilityTest : public testing::Test {
 protected:
  LaunchPlausibilityTest() { Launch(8); }
  void Launch(int launches) {
    for (int i = 0; i < launches; ++i) kernel_.durations.Add(kUsualNs);
  }

  // The next one starts so long after its own start.
  bool Overtaken(uint64_t duration_ns, uint64_t next_ns) const {
    return IsPlausible(utlz::Launch{kFirstLaunchNs, kFirstLaunchNs + duration_ns, 0, 0},
                       {.next_start_ns = kFirstLaunchNs + next_ns}, kernel_);
  }
  // Tracing ended so long after its start.
  bool Outlived(uint64_t duration_ns, uint64_t untraced_ns) const {
    return IsPlausible(utlz::Launch{kFirstLaunchNs, kFirstLaunchNs + duration_ns, 0, 0},
                       {.untraced_since_ns = kFirstLaunchNs + untraced_ns}, kernel_);
  }

  Kernel kernel_;
};

TEST_F(LaunchPlausibilityTest, ALongLaunchIsAcceptedUnlessTheNextOneBeganBeforeItsEnd) {
  constexpr uint64_t kLongNs = 500'000'000;
  EXPECT_TRUE(
      IsPlausible(utlz::Launch{kFirstLaunchNs, kFirstLaunchNs + kLongNs, 0, 0}, {}, kernel_));
  EXPECT_TRUE(Overtaken(kLongNs, kLongNs));
  EXPECT_FALSE(Overtaken(kLongNs, kLongNs - 1));
}

TEST_F(LaunchPlausibilityTest, AClockMayBeSetBackButNotByYears) {
  constexpr uint64_t kRunNs = 1'700'000'000'000'000'000;
  const auto is_of_run = [](uint64_t start_ns) {
    return IsOfThisRun(start_ns, start_ns + 1000, {.start_ns = kRunNs});
  };
  EXPECT_TRUE(is_of_run(kRunNs + 1));
  EXPECT_TRUE(is_of_run(kRunNs - kLongestBeforeRunNs));
  EXPECT_FALSE(is_of_run(kRunNs - kLongestBeforeRunNs - 1));
  EXPECT_FALSE(is_of_run(126'000'000'000)) << "cycles of a processor that has been up for a minute";
}

TEST_F(LaunchPlausibilityTest, NothingIsADayNewerThanAllThatItsProcessToldOf) {
  constexpr uint64_t kRunNs = 1'700'000'000'000'000'000;
  constexpr uint64_t kNewestNs = kRunNs + 500'000'000'000'000;
  const auto is_of_run = [](uint64_t end_ns, RunReach run) {
    return IsOfThisRun(end_ns - 1000, end_ns, run);
  };
  EXPECT_TRUE(is_of_run(kRunNs + kLongestAfterNewestNs, {.start_ns = kRunNs}));
  EXPECT_FALSE(is_of_run(kRunNs + kLongestAfterNewestNs + 1, {.start_ns = kRunNs}));
  const RunReach long_run{.start_ns = kRunNs, .newest_ns = kNewestNs};
  EXPECT_TRUE(is_of_run(kNewestNs + kLongestAfterNewestNs, long_run));
  EXPECT_FALSE(is_of_run(kNewestNs + kLongestAfterNewestNs + 1, long_run));
  EXPECT_FALSE(IsOfThisRun(kNewestNs, UINT64_MAX, long_run)) << "nor does it last for centuries";
  EXPECT_TRUE(is_of_run(1'000'000, {})) << "of a run of which nothing is known";
}

TEST_F(LaunchPlausibilityTest, NorOneThatWentOnLongAfterTracingHadEnded) {
  constexpr uint64_t kLongNs = 500'000'000;
  EXPECT_TRUE(Outlived(kLongNs, kLongNs - kShortestImplausibleNs));
  EXPECT_FALSE(Outlived(kLongNs, kLongNs - kShortestImplausibleNs - 1));
}

TEST_F(LaunchPlausibilityTest, LongIsSixteenTimesTheMeanAndAMillisecond) {
  EXPECT_TRUE(Overtaken(16 * kUsualNs, 0));
  EXPECT_FALSE(Overtaken(16 * kUsualNs + 1, 0));
  Kernel short_one;
  for (int i = 0; i < 100; ++i) short_one.durations.Add(1000);
  kernel_ = short_one;
  EXPECT_TRUE(Overtaken(kShortestImplausibleNs - 1, 0));
  EXPECT_FALSE(Overtaken(kShortestImplausibleNs, 0));
}

TEST_F(LaunchPlausibilityTest, WhatIsUsualIsKnownAfterEightLaunches) {
  kernel_ = Kernel();
  Launch(7);
  EXPECT_TRUE(Overtaken(500'000'000, 0));
  Launch(1);
  EXPECT_FALSE(Overtaken(500'000'000, 0));
}

TEST_F(LaunchPlausibilityTest, CommunicationMayWaitForAsLongAsItLikes) {
  kernel_.communication = true;
  EXPECT_TRUE(Overtaken(500'000'000, 0));
}

}  // namespace
}  // namespace utlz
