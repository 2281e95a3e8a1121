// Which windows are sampled, and when the sampler hears of them so that it can set its counters.
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

class SampledWindowsTest : public WindowPlannerTest {};

TEST_F(SampledWindowsTest, WhereCountersAreKnownOneWindowInAWhileIsSampled) {
  planner_.SampleSeldom({kGpu});
  uint64_t now_ns = kNow;
  uint64_t sampled = 0, traced = 0;
  bool ready = false;
  while (now_ns < kNow + 4 * WindowPlanner::kSeldomNs) {
    if (!ready) planner_.SamplerReady(kGpu, now_ns, kSampling);
    ready = true;
    const auto windows = Plan(now_ns);
    ASSERT_THAT(windows, SizeIs(1)) << "tracing goes on";
    ++traced;
    if (windows[0].sampling_begin_ns != 0) {
      ++sampled;
      ready = false;
    }
    now_ns = windows[0].end_ns;
  }
  EXPECT_GE(sampled, 3u);
  EXPECT_LE(sampled, 5u);
  EXPECT_GT(traced, 100u);
  planner_.SampleSeldom({});
  const auto windows = Plan(now_ns);
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_NE(windows[0].sampling_begin_ns, 0u) << "new kernels are looked at at once";
}

TEST_F(SampledWindowsTest, WindowsOfASamplerThatRestedAreMadeUpFor) {
  planner_.SampleSeldom({kGpu});
  const auto sampled_from = [this](uint64_t begin_ns) {
    uint64_t sampled = 0;
    planner_.SamplerReady(kGpu, begin_ns, kSampling);
    for (uint64_t now_ns = begin_ns; now_ns < begin_ns + 2 * kSecondNs;) {
      const auto windows = Plan(now_ns);
      if (windows.empty()) return sampled;
      now_ns = windows[0].end_ns;
      if (windows[0].sampling_begin_ns == 0) continue;
      ++sampled;
      planner_.SamplerReady(kGpu, now_ns, kSampling);
    }
    return sampled;
  };
  EXPECT_EQ(sampled_from(kNow), 1u);
  EXPECT_EQ(sampled_from(kNow + 3 * WindowPlanner::kSeldomNs), 3u);
  EXPECT_EQ(sampled_from(kNow + 103 * WindowPlanner::kSeldomNs), WindowPlanner::kMostMadeUpFor);
  EXPECT_EQ(sampled_from(kNow + 104 * WindowPlanner::kSeldomNs), 1u);
}

TEST_F(SampledWindowsTest, WhereSamplesWereWantedOftenNoneAreMadeUpFor) {
  for (uint64_t now_ns = kNow; now_ns < kNow + 20 * kSecondNs;) {
    planner_.SamplerReady(kGpu, now_ns, kSampling);
    now_ns = Plan(now_ns)[0].end_ns;
  }
  planner_.SampleSeldom({kGpu});
  planner_.SamplerReady(kGpu, kNow + 21 * kSecondNs, kSampling);
  EXPECT_EQ(Plan(kNow + 21 * kSecondNs)[0].sampling_begin_ns, 0u);
  EXPECT_NE(Plan(kNow + 26 * kSecondNs)[0].sampling_begin_ns, 0u) << "but five seconds later";
}

TEST_F(SampledWindowsTest, ASamplerThatSetsTheCountersFirstHearsOfAWindowInTime) {
  constexpr uint64_t kLead = 300 * kMillisecondNs;
  planner_.SamplerReady(kGpu, kNow, kSampling, kLead);
  const auto windows = Plan(kNow);
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_GE(windows[0].sampling_begin_ns, kNow + kLead);
  for (const uint64_t lead_ns : {3600 * kSecondNs, UINT64_MAX}) {
    WindowPlanner planner(kNow, 1);
    planner.SamplerReady(kGpu, kNow, kSampling, lead_ns);
    const auto bounded = planner.Plan(kNow, Apart({kGpu}), AnyTime);
    ASSERT_THAT(bounded, SizeIs(1));
    EXPECT_GT(bounded[0].begin_ns, kNow + kSecondNs);
    EXPECT_LT(bounded[0].begin_ns, kNow + 5 * kSecondNs) << "no lead is endless";
  }
}

// One sampler serves all GPUs, and cannot end a window while it sets the counters of another.
TEST_F(SampledWindowsTest, CountersAreNotSetWhileAnotherGpuIsSampled) {
  constexpr uint64_t kLead = 200 * kMillisecondNs;
  uint64_t now_ns = kNow;
  for (int i = 0; i < 50; ++i) {
    planner_.SamplerReady(kGpu, now_ns, kSampling);
    planner_.SamplerReady(kOther, now_ns, kSampling, kLead);
    const auto windows = planner_.Plan(now_ns, Apart({kGpu, kOther}), AnyTime);
    ASSERT_THAT(windows, SizeIs(2));
    const uint64_t set_ns = windows[1].begin_ns - kLead;
    EXPECT_TRUE(windows[0].end_ns <= set_ns || windows[1].end_ns <= windows[0].begin_ns) << i;
    now_ns = std::max(windows[0].end_ns, windows[1].end_ns) + kSecondNs;
  }
  for (int i = 0; i < 50; ++i) {
    planner_.SamplerReady(kGpu, now_ns, kSampling, kLead);
    planner_.SamplerReady(kOther, now_ns, kSampling);
    const auto windows = planner_.Plan(now_ns, Apart({kGpu, kOther}), AnyTime);
    ASSERT_THAT(windows, SizeIs(2));
    const uint64_t set_ns = windows[0].begin_ns - kLead;
    EXPECT_TRUE(windows[1].end_ns <= set_ns || windows[0].end_ns <= windows[1].begin_ns) << i;
    now_ns = std::max(windows[0].end_ns, windows[1].end_ns) + kSecondNs;
  }
}

TEST_F(SampledWindowsTest, InALongWindowCountersAreSetFirst) {
  constexpr uint64_t kLead = 200 * kMillisecondNs;
  planner_.SamplerReady("a", kNow, kSampling, kLead);
  planner_.SamplerReady("b", kNow, kSampling, kLead);
  planner_.AskForLongWindow(kNow);
  const auto windows = planner_.Plan(kNow, Apart({"a", "b"}), AnyTime);
  ASSERT_THAT(windows, SizeIs(2));
  EXPECT_GE(windows[0].sampling_begin_ns, kNow + kLead);
  EXPECT_GE(windows[1].sampling_begin_ns, windows[0].sampling_begin_ns + kLead + kSampling);
  EXPECT_LE(windows[1].sampling_begin_ns + kSampling, windows[1].end_ns);
}

TEST_F(SampledWindowsTest, WhereCountersAreKnownAnotherCollectorsWindowCountsAsOurs) {
  planner_.SamplerReady(kGpu, kNow, kSampling);
  planner_.SampleSeldom({kGpu});
  const auto joined = planner_.SamplerDecided(kNow, kGpu, kNow + 100 * kMillisecondNs, kSampling);
  ASSERT_TRUE(joined.has_value());
  planner_.SamplerReady(kGpu, joined->end_ns, kSampling);
  const auto windows = Plan(joined->end_ns);
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_EQ(windows[0].sampling_begin_ns, 0u);
}

}  // namespace
}  // namespace utlz
