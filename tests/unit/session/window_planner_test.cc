#include "collector/session/window_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/nanoseconds.h"
#include "tests/unit/session/now.h"
#include "tests/unit/session/window_planning.h"

namespace utlz {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(WindowPlannerTest, AnyTimeThatASamplerNamesIsBounded) {
  for (const uint64_t ready_ns : {uint64_t{0}, UINT64_MAX, UINT64_MAX - kSampling}) {
    planner_ = WindowPlanner(kNow, 7);
    planner_.SamplerReady(kGpu, ready_ns, UINT64_MAX);
    const uint64_t now_ns = kNow + WindowPlanner::kPauseNs;
    const auto windows = Plan(now_ns);
    ASSERT_THAT(windows, SizeIs(1));
    EXPECT_GT(windows[0].begin_ns, now_ns);
    EXPECT_LE(windows[0].end_ns, now_ns + 3'600'000 * kMillisecondNs);
    EXPECT_GT(windows[0].end_ns, windows[0].begin_ns);
  }
}

TEST_F(WindowPlannerTest, ProcessesTraceAroundTheSamplersWindow) {
  EXPECT_THAT(Plan(kNow), IsEmpty()) << "the sampler is setting up";
  planner_.SamplerReady(kGpu, kNow, kSampling);
  EXPECT_LE(planner_.next_ns(), kNow);
  const auto windows = Plan(kNow + kMillisecondNs);
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_EQ(windows[0].device_uuid, kGpu);
  EXPECT_GE(windows[0].begin_ns, kNow + kMillisecondNs + WindowPlanner::kNoticeNs);
  EXPECT_GT(windows[0].sampling_begin_ns, windows[0].begin_ns);
  EXPECT_GT(windows[0].end_ns, windows[0].sampling_begin_ns + kSampling);
  EXPECT_LE(windows[0].end_ns, windows[0].begin_ns + 2 * kSampling);
  EXPECT_THAT(Plan(kNow + 2 * kMillisecondNs), IsEmpty()) << "said once";
}

TEST_F(WindowPlannerTest, WindowsLastForWholeSteps) {
  const auto length_ns = [this](uint64_t step_ns) {
    planner_ = WindowPlanner(kNow, 7);
    planner_.StepsTake(step_ns);
    planner_.SamplerReady(kGpu, kNow, kSampling);
    const auto windows = Plan(kNow);
    EXPECT_THAT(windows, SizeIs(1));
    return windows[0].end_ns - windows[0].begin_ns;
  };
  const uint64_t shortest_ns = length_ns(0);
  EXPECT_EQ(length_ns(31 * kMillisecondNs), 31 * kMillisecondNs);
  EXPECT_EQ(length_ns(shortest_ns), shortest_ns);
  EXPECT_EQ(length_ns(shortest_ns - 1), 2 * (shortest_ns - 1));
  EXPECT_EQ(length_ns(2 * shortest_ns), 2 * shortest_ns);
  EXPECT_EQ(length_ns(2 * shortest_ns + 1), shortest_ns) << "so few would be sampled";
  EXPECT_EQ(length_ns(UINT64_MAX), shortest_ns);
  EXPECT_EQ(length_ns(1), shortest_ns);

  planner_ = WindowPlanner(kNow, 7);
  planner_.StepsTake(31 * kMillisecondNs);
  const auto joined = planner_.SamplerDecided(kNow, kGpu, kNow + 100 * kMillisecondNs, kSampling);
  ASSERT_TRUE(joined.has_value());
  EXPECT_EQ(joined->end_ns - joined->begin_ns, 31 * kMillisecondNs);
}

TEST_F(WindowPlannerTest, WindowsThatAreNotSampledLastForWholeStepsToo) {
  const auto length_ns = [this](uint64_t step_ns) {
    planner_ = WindowPlanner(kNow - WindowPlanner::kPauseNs, 7);
    planner_.StepsTake(step_ns);
    const auto windows = Plan(kNow);
    EXPECT_THAT(windows, SizeIs(1));
    return windows[0].end_ns - windows[0].begin_ns;
  };
  EXPECT_EQ(length_ns(0), WindowPlanner::kWindowNs);
  EXPECT_EQ(length_ns(40 * kMillisecondNs), 40 * kMillisecondNs);
  EXPECT_EQ(length_ns(2 * WindowPlanner::kWindowNs + 1), WindowPlanner::kWindowNs);
}

TEST_F(WindowPlannerTest, AWindowThatTheSamplerDecidedIsTracedInWhateverWasPlanned) {
  const auto joined = planner_.SamplerDecided(kNow, kGpu, kNow + 100 * kMillisecondNs, kSampling);
  ASSERT_TRUE(joined.has_value());
  EXPECT_LT(joined->begin_ns, kNow + 100 * kMillisecondNs);
  EXPECT_GT(joined->end_ns, kNow + 100 * kMillisecondNs + kSampling);
  EXPECT_EQ(joined->sampling_begin_ns, 0u) << "it need not be told";
  EXPECT_THAT(Plan(kNow + kMillisecondNs), IsEmpty());
  const auto put_off =
      planner_.SamplerDecided(kNow + kMillisecondNs, kGpu, kNow + 200 * kMillisecondNs, kSampling);
  ASSERT_TRUE(put_off.has_value());
  EXPECT_THAT(Plan(joined->end_ns), IsEmpty()) << "it is still to come";
  EXPECT_FALSE(
      planner_.SamplerDecided(put_off->begin_ns, kGpu, kNow + 900 * kMillisecondNs, kSampling))
      << "one is under way";
}

TEST_F(WindowPlannerTest, AnyWindowThatASamplerDecidesIsBounded) {
  EXPECT_FALSE(planner_.SamplerDecided(kNow, kGpu, 0, kSampling));
  EXPECT_FALSE(planner_.SamplerDecided(kNow, kGpu, kNow - 1, kSampling)) << "it has begun";
  EXPECT_FALSE(planner_.SamplerDecided(kNow, kGpu, UINT64_MAX, kSampling));
  const auto window = planner_.SamplerDecided(kNow, kGpu, kNow + kMillisecondNs, UINT64_MAX);
  ASSERT_TRUE(window.has_value());
  EXPECT_GE(window->begin_ns, kNow);
  EXPECT_LT(window->end_ns, kNow + 1000 * kMillisecondNs);
  for (int i = 0; i < 1000; ++i) {
    planner_.SamplerDecided(kNow, std::to_string(i), kNow + 100 * kMillisecondNs, kSampling);
  }
  EXPECT_FALSE(planner_.SamplerDecided(kNow, "1001", kNow + 100 * kMillisecondNs, kSampling));
}

TEST_F(WindowPlannerTest, WaitsForTheLastProcessButNotForever) {
  planner_.SamplerReady(kGpu, kNow, kSampling);
  const auto waited =
      planner_.Plan(kNow, Apart({kGpu}), [](auto&) { return kNow + 700 * kMillisecondNs; });
  ASSERT_THAT(waited, SizeIs(1));
  EXPECT_GE(waited[0].begin_ns, kNow + 700 * kMillisecondNs);
  planner_.SamplerReady(kGpu, waited[0].end_ns, kSampling);
  const auto bounded =
      planner_.Plan(waited[0].end_ns, Apart({kGpu}), [](auto&) { return UINT64_MAX; });
  ASSERT_THAT(bounded, SizeIs(1));
  EXPECT_LT(bounded[0].begin_ns,
            waited[0].end_ns + WindowPlanner::kLongestWaitNs + 200 * kMillisecondNs);
}

TEST_F(WindowPlannerTest, WhereAllIsRecordedNobodyNeedsNotice) {
  const auto never = [](const std::string&) { return UINT64_MAX; };
  planner_.SampleAtOnce({kGpu});
  planner_.SamplerReady(kGpu, kNow, kSampling);
  const auto windows = planner_.Plan(kNow + kMillisecondNs, Apart({kGpu}), never);
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_GE(windows[0].begin_ns, kNow + kMillisecondNs);
  EXPECT_LT(windows[0].begin_ns, kNow + kMillisecondNs + WindowPlanner::kNoticeNs);
  EXPECT_GT(windows[0].sampling_begin_ns, kNow + kMillisecondNs);
  planner_.SamplerReady(kGpu, windows[0].end_ns + 70 * kMillisecondNs, kSampling);
  const auto next = planner_.Plan(windows[0].end_ns, Apart({kGpu}), never);
  ASSERT_THAT(next, SizeIs(1));
  EXPECT_GE(next[0].begin_ns, windows[0].end_ns + 70 * kMillisecondNs) << "the sampler is asked";
  planner_.SampleAtOnce({});
  planner_.SamplerReady(kGpu, next[0].end_ns, kSampling);
  const auto later = planner_.Plan(next[0].end_ns, Apart({kGpu}), AnyTime);
  ASSERT_THAT(later, SizeIs(1));
  EXPECT_GE(later[0].begin_ns, next[0].end_ns + WindowPlanner::kNoticeNs);
}

TEST_F(WindowPlannerTest, ASamplerThatPausesIsPlannedForAhead) {
  planner_.SamplerReady(kGpu, kNow + 1600 * kMillisecondNs, kSampling);
  const auto windows = Plan(kNow);
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_GE(windows[0].begin_ns, kNow + 1600 * kMillisecondNs);
}

TEST_F(WindowPlannerTest, NewsBringAWindowForwardThatHasNotBegun) {
  planner_.SamplerReady(kGpu, kNow + 1600 * kMillisecondNs, kSampling);
  Plan(kNow);
  planner_.SamplerReady(kGpu, kNow + 10 * kMillisecondNs, kSampling);
  const auto sooner = Plan(kNow + 10 * kMillisecondNs);
  ASSERT_THAT(sooner, SizeIs(1));
  EXPECT_LT(sooner[0].begin_ns, kNow + 200 * kMillisecondNs);
  planner_.SamplerReady(kGpu, kNow + 10 * kMillisecondNs, kSampling);
  EXPECT_THAT(Plan(sooner[0].begin_ns - WindowPlanner::kNoticeNs), IsEmpty())
      << "processes may have seen it";
  EXPECT_THAT(Plan(sooner[0].begin_ns), IsEmpty()) << "one that has begun stays";
  EXPECT_THAT(Plan(sooner[0].end_ns), SizeIs(1));
}

TEST_F(WindowPlannerTest, WithoutASamplerProcessesTraceSeldomer) {
  uint64_t now_ns = kNow;
  int windows = 0;
  for (; now_ns < kNow + 10'000 * kMillisecondNs;
       now_ns = std::max(now_ns + kMillisecondNs, planner_.next_ns())) {
    for (const DeviceWindow& window : Plan(now_ns)) {
      EXPECT_EQ(window.sampling_begin_ns, 0u);
      EXPECT_EQ(window.end_ns - window.begin_ns, WindowPlanner::kWindowNs);
      ++windows;
    }
  }
  EXPECT_GE(windows, 7);
  EXPECT_LE(windows, 10);
}

TEST_F(WindowPlannerTest, WindowsOfTwoGpusDoNotOverlap) {
  uint64_t last_end_ns = 0;
  uint64_t now_ns = kNow;
  for (int round = 0; round < 20; ++round) {
    planner_.SamplerReady(kGpu, now_ns, kSampling);
    planner_.SamplerReady(kOther, now_ns, kSampling);
    auto windows = planner_.Plan(now_ns, Apart({kGpu, kOther}), AnyTime);
    ASSERT_THAT(windows, SizeIs(2));
    if (windows[1].begin_ns < windows[0].begin_ns) std::swap(windows[0], windows[1]);
    EXPECT_GT(windows[0].begin_ns, last_end_ns);
    EXPECT_GE(windows[1].begin_ns, windows[0].end_ns + WindowPlanner::kReadingNs);
    now_ns = last_end_ns = windows[1].end_ns;
  }
}

TEST_F(WindowPlannerTest, WindowsDoNotFallIntoStep) {
  std::set<uint64_t> pauses;
  uint64_t now_ns = kNow;
  for (int i = 0; i < 20; ++i) {
    planner_.SamplerReady(kGpu, now_ns, kSampling);
    const auto windows = Plan(now_ns);
    ASSERT_THAT(windows, SizeIs(1));
    pauses.insert(windows[0].begin_ns - now_ns);
    now_ns = windows[0].end_ns;
  }
  EXPECT_GE(pauses.size(), 18u);
}

TEST_F(WindowPlannerTest, AReadySamplerWaitsForTheFirstProcess) {
  planner_.SamplerReady(kGpu, kNow, kSampling);
  EXPECT_THAT(planner_.Plan(kNow, Apart({}), AnyTime), IsEmpty());
  ASSERT_LT(planner_.next_ns(), kNow + 100 * kMillisecondNs);
  EXPECT_THAT(Plan(planner_.next_ns()), SizeIs(1));
}

TEST_F(WindowPlannerTest, AWindowTakesHalfASecondAtMost) {
  const uint64_t around_ns = WindowPlanner::kSwitchingNs + WindowPlanner::kStoppingNs;
  for (const auto& [asked_ns, length_ns] : {std::pair{400 * kMillisecondNs, 400 * kMillisecondNs},
                                            {600 * kMillisecondNs, 500 * kMillisecondNs}}) {
    planner_ = WindowPlanner(kNow, 7);
    planner_.SamplerReady(kGpu, kNow, asked_ns);
    const auto windows = Plan(kNow);
    ASSERT_THAT(windows, SizeIs(1));
    EXPECT_EQ(windows[0].end_ns - windows[0].begin_ns, length_ns + around_ns);
    const auto decided =
        planner_.SamplerDecided(kNow, kOther, kNow + 100 * kMillisecondNs, asked_ns);
    ASSERT_TRUE(decided.has_value());
    EXPECT_EQ(decided->begin_ns, kNow + 100 * kMillisecondNs - WindowPlanner::kSwitchingNs);
    EXPECT_EQ(decided->end_ns,
              kNow + 100 * kMillisecondNs + length_ns + WindowPlanner::kStoppingNs);
  }
}

// What processes record meanwhile may be what it waits for: it knows by records that work has
// become steady, and is then ready sooner.
TEST_F(WindowPlannerTest, WhereASamplerPausesForLongProcessesTraceSeldomer) {
  const uint64_t ready_ns = kNow + 20'000 * kMillisecondNs;
  planner_.SamplerReady(kGpu, ready_ns, kSampling);
  int traced = 0;
  uint64_t sampled_ns = 0;
  uint64_t now_ns = kNow;
  for (; sampled_ns == 0 && now_ns < ready_ns + WindowPlanner::kSoonNs;
       now_ns = std::max(now_ns + kMillisecondNs, planner_.next_ns())) {
    for (const DeviceWindow& window : Plan(now_ns)) {
      ++traced;
      sampled_ns = window.sampling_begin_ns;
      EXPECT_LT(window.begin_ns, now_ns + WindowPlanner::kSoonNs + 200 * kMillisecondNs);
    }
  }
  EXPECT_GE(traced, 12);
  EXPECT_GE(sampled_ns, ready_ns);
}

TEST_F(WindowPlannerTest, AProcessThatIsNeverReadyIsNotWaitedForWithoutASamplerEither) {
  const uint64_t later_ns = kNow + WindowPlanner::kPauseNs;
  const auto windows = planner_.Plan(later_ns, Apart({kGpu}),
                                     [](auto&) { return kNow + 3'600'000 * kMillisecondNs; });
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_LT(windows[0].begin_ns, later_ns + WindowPlanner::kLongestWaitNs + 200 * kMillisecondNs);
}

TEST_F(WindowPlannerTest, WhatTheSamplerDecidedAnswersWhatItAskedFor) {
  planner_.SamplerReady(kGpu, kNow, kSampling);
  const auto decided = planner_.SamplerDecided(kNow, kGpu, kNow + 100 * kMillisecondNs, kSampling);
  ASSERT_TRUE(decided.has_value());
  EXPECT_THAT(Plan(decided->end_ns), IsEmpty()) << "it has not said since that it is ready";
}

TEST_F(WindowPlannerTest, ADecisionThatHasBegunComesTooLate) {
  EXPECT_FALSE(planner_.SamplerDecided(kNow, kGpu, kNow - kMillisecondNs, kSampling));
  EXPECT_TRUE(planner_.SamplerDecided(kNow, kGpu, kNow, kSampling)) << "at this moment";
}

TEST_F(WindowPlannerTest, GpusThatAreKnownKeepTheirWindowsWhereThereAreTooMany) {
  std::vector<std::string> uuids;
  for (size_t i = 0; i < WindowPlanner::kMostDevices; ++i) uuids.push_back(std::to_string(i));
  planner_.Plan(kNow + WindowPlanner::kPauseNs, Apart(uuids), AnyTime);
  EXPECT_TRUE(planner_.SamplerDecided(kNow, "0", kNow + 100 * kMillisecondNs, kSampling));
  const uint64_t much_later_ns = kNow + 100 * WindowPlanner::kPauseNs;
  EXPECT_THAT(planner_.Plan(much_later_ns, Apart(uuids), AnyTime),
              SizeIs(WindowPlanner::kMostDevices));
  EXPECT_THAT(planner_.Plan(much_later_ns, Apart({"another"}), AnyTime), IsEmpty());
}

TEST_F(WindowPlannerTest, LooksAgainWhenTheWindowEndsAndWhenThePauseDoes) {
  planner_.SamplerReady(kGpu, kNow, kSampling);
  const auto windows = Plan(kNow);
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_EQ(planner_.next_ns(), windows[0].end_ns);
  Plan(windows[0].end_ns);
  EXPECT_EQ(planner_.next_ns(), windows[0].end_ns + WindowPlanner::kPauseNs);
}

TEST_F(WindowPlannerTest, AWindowGoesBetweenOthersThatLeaveRoomAndElseAfterThem) {
  // Those of "a" and "b", and when all are ready to the one of "c" that is planned.
  const auto planned = [this](uint64_t a_ns, uint64_t b_ns, uint64_t ready_ns) {
    planner_ = WindowPlanner(kNow, 7);
    planner_.SamplerDecided(kNow, "a", kNow + a_ns, kSampling);
    planner_.SamplerDecided(kNow, "b", kNow + b_ns, kSampling);
    planner_.SamplerReady("c", kNow, kSampling);
    const auto windows =
        planner_.Plan(kNow, Apart({"a", "b", "c"}), [&](auto&) { return kNow + ready_ns; });
    EXPECT_THAT(windows, SizeIs(1));
    return windows.empty() ? 0 : windows[0].begin_ns - kNow;
  };
  const uint64_t free_after_ns = kSampling + WindowPlanner::kStoppingNs + WindowPlanner::kReadingNs;
  EXPECT_EQ(planned(100 * kMillisecondNs, 300 * kMillisecondNs, 0),
            300 * kMillisecondNs + free_after_ns);
  EXPECT_EQ(planned(300 * kMillisecondNs, 100 * kMillisecondNs, 0),
            300 * kMillisecondNs + free_after_ns);
  EXPECT_EQ(planned(100 * kMillisecondNs, 900 * kMillisecondNs, 150 * kMillisecondNs),
            100 * kMillisecondNs + free_after_ns)
      << "the sampler reads until then";
  EXPECT_LT(planned(900 * kMillisecondNs, 1100 * kMillisecondNs, 0), 100 * kMillisecondNs);
}

TEST_F(WindowPlannerTest, NoMoreGpusThanThereCanBe) {
  std::vector<std::string> uuids;
  for (int i = 0; i < 1000; ++i) uuids.push_back("gpu " + std::to_string(i));
  const uint64_t later_ns = kNow + 2 * WindowPlanner::kPauseNs;
  EXPECT_THAT(planner_.Plan(later_ns, Apart(uuids), AnyTime), SizeIs(WindowPlanner::kMostDevices));
}

}  // namespace
}  // namespace utlz
