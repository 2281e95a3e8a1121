// Windows of all GPUs, which an alarm asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "collector/session/window_planner.h"
#include "tests/support/nanoseconds.h"
#include "tests/unit/session/now.h"
#include "tests/unit/session/window_planning.h"

namespace utlz {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class LongWindowsTest : public WindowPlannerTest {};

TEST_F(LongWindowsTest, ALongWindowIsOfAllGpusAtOnce) {
  planner_.SamplerReady("a", kNow, kSampling);
  planner_.SamplerReady("b", kNow, kSampling);
  planner_.AskForLongWindow(kNow);
  EXPECT_EQ(planner_.next_ns(), 0u) << "at once";
  const auto windows = planner_.Plan(kNow, Apart({"a", "b", "c"}), AnyTime);
  ASSERT_THAT(windows, SizeIs(3));
  for (const DeviceWindow& window : windows) {
    EXPECT_EQ(window.begin_ns, windows[0].begin_ns);
    EXPECT_EQ(window.end_ns, window.begin_ns + WindowPlanner::kLongNs);
  }
  EXPECT_GE(windows[0].begin_ns, kNow + WindowPlanner::kNoticeNs);
  EXPECT_GT(windows[0].sampling_begin_ns, windows[0].begin_ns);
  EXPECT_GE(windows[1].sampling_begin_ns, windows[0].sampling_begin_ns + kSampling)
      << "the sampler reads one after another";
  EXPECT_EQ(windows[2].sampling_begin_ns, 0u) << "its sampler is not ready";
  EXPECT_THAT(planner_.Plan(windows[0].begin_ns, Apart({"a", "b", "c"}), AnyTime), IsEmpty());
}

TEST_F(LongWindowsTest, ALongWindowWaitsForTheOneUnderWay) {
  const auto decided = planner_.SamplerDecided(kNow, kGpu, kNow + 10 * kMillisecondNs, kSampling);
  ASSERT_TRUE(decided.has_value());
  planner_.AskForLongWindow(kNow + 20 * kMillisecondNs);
  const auto windows = Plan(kNow + 20 * kMillisecondNs);
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_GE(windows[0].begin_ns, decided->end_ns);
}

TEST_F(LongWindowsTest, LongWindowsAreRare) {
  planner_.AskForLongWindow(kNow);
  const auto first = Plan(kNow);
  ASSERT_THAT(first, SizeIs(1));
  const uint64_t soon_ns = first[0].end_ns + 1;
  planner_.AskForLongWindow(soon_ns);
  for (const DeviceWindow& window : Plan(soon_ns)) {
    EXPECT_LT(window.end_ns - window.begin_ns, WindowPlanner::kLongNs);
  }
  const uint64_t later_ns = kNow + WindowPlanner::kLongPauseNs;
  planner_.AskForLongWindow(later_ns);
  const auto second = Plan(later_ns);
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].end_ns - second[0].begin_ns, WindowPlanner::kLongNs);
}

}  // namespace
}  // namespace utlz
