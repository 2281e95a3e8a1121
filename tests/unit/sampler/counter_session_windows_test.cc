// When the windows of a sampler's session begin: as collectors plan them, and as the account
// allows.
#include <gtest/gtest.h>

#include "collector/clocks.h"
#include "collector/sampler/channel/sampler_command.h"
#include "collector/sampler/counter_session.h"
#include "tests/unit/sampler/counter_session_fixture.h"

namespace utlz {
namespace {

class CounterSessionWindowsTest : public CounterSessionTest {};

TEST_F(CounterSessionWindowsTest, PlannedWindowsBeginWhenTheyAreTold) {
  options_.planning = {.planned = true, .always_wanted = false};
  Begin();
  StepWhenDue();
  ASSERT_EQ(ready_.size(), 1u);
  EXPECT_EQ(ready_[0].device_uuid(), device_.uuid);
  EXPECT_GT(ready_[0].window_ns(), 0u);
  EXPECT_EQ(session_->next_step_ns(), UINT64_MAX) << "nothing begins by itself";
  const uint64_t begin_ns = MonotonicNs() + kSecondNs;
  session_->WindowAt(now_ns_, begin_ns);
  EXPECT_EQ(session_->next_step_ns(), begin_ns);
  session_->Step(begin_ns - 1, true);
  EXPECT_FALSE(session_->sampling());
  session_->Step(begin_ns, true);
  EXPECT_TRUE(session_->sampling());
  session_->Step(session_->next_step_ns(), true);
  EXPECT_EQ(batches_.size(), 1u);
  EXPECT_EQ(ready_.size(), 2u);
  EXPECT_EQ(session_->next_step_ns(), UINT64_MAX);
}

// They are many only because records may end, and say little of the steps to come.
TEST_F(CounterSessionWindowsTest, WindowsOfAHurriedStartUpDoNotBringTheExtendedSetOn) {
  options_.planning = {.planned = true, .always_wanted = true};
  Begin();
  session_->SetProgress(now_ns_, kProgressBaseKnown | kProgressPerhapsOnce);
  for (int i = 0; i < 40; ++i) Window();
  EXPECT_EQ(sets_.size(), 1u);
  session_->SetProgress(now_ns_, kProgressBaseKnown | kProgressPerhapsOnce | kProgressSteady);
  for (int i = 0; i < 40; ++i) Window();
  EXPECT_EQ(sets_.size(), 2u);
}

TEST_F(CounterSessionWindowsTest, OfTwoWhoPlanTheLaterIsWaitedForButNotForever) {
  options_.planning = {.planned = true, .always_wanted = false};
  Begin();
  StepWhenDue();
  const uint64_t soon_ns = now_ns_ + kSecondNs;
  EXPECT_EQ(session_->WindowAt(now_ns_, soon_ns), soon_ns);
  EXPECT_EQ(session_->WindowAt(now_ns_, soon_ns - kSecondNs / 2), soon_ns);
  EXPECT_EQ(session_->WindowAt(now_ns_, soon_ns + kSecondNs), soon_ns + kSecondNs);
  const uint64_t longest_ns = session_->WindowAt(now_ns_, UINT64_MAX);
  EXPECT_LE(longest_ns, now_ns_ + 60 * kSecondNs);
  EXPECT_EQ(session_->WindowAt(longest_ns - 1'000'000, longest_ns + kSecondNs), longest_ns)
      << "those who trace in it have begun";
}

TEST_F(CounterSessionWindowsTest, AWindowThatNobodyPlansBeginsByItselfWhereSomebodyAlwaysTraces) {
  options_.planning = {.planned = true, .always_wanted = true};
  Begin();
  StepWhenDue();
  ASSERT_EQ(ready_.size(), 1u);
  EXPECT_GT(session_->next_step_ns(), now_ns_ + 2 * kSecondNs) << "those who plan come first";
  Window();
  EXPECT_EQ(batches_.size(), 1u);
  session_->SetPlanning(now_ns_, {.planned = true, .always_wanted = false});
  EXPECT_EQ(session_->next_step_ns(), UINT64_MAX);
}

TEST_F(CounterSessionWindowsTest, WindowsArePlannedOnceSomebodyPlans) {
  Begin();
  StepWhenDue();
  EXPECT_TRUE(ready_.empty());
  session_->SetPlanning(now_ns_, {.planned = true, .always_wanted = false});
  ASSERT_EQ(ready_.size(), 1u);
  EXPECT_EQ(session_->next_step_ns(), UINT64_MAX);
  session_->SetPlanning(now_ns_, {.planned = false, .always_wanted = true});
  Window();
  EXPECT_EQ(batches_.size(), 1u);
}

TEST_F(CounterSessionWindowsTest, WhoJoinsHearsOfTheSetsAndTheWindowToCome) {
  options_.planning = {.planned = true, .always_wanted = false};
  Begin();
  StepWhenDue();
  session_->WindowAt(now_ns_, now_ns_);
  Window();
  std::vector<uint16_t> heard;
  const auto sink = [&](uint16_t type, const auto&) { heard.push_back(type); };
  session_->SendDescriptions(sink);
  EXPECT_EQ(heard, (std::vector<uint16_t>{FRAME_METRIC_SET, FRAME_SAMPLER_READY}));
  heard.clear();
  session_->WindowAt(now_ns_, now_ns_ + kSecondNs);
  session_->SendDescriptions(sink);
  EXPECT_EQ(heard, (std::vector<uint16_t>{FRAME_METRIC_SET, FRAME_SAMPLER_WINDOW}));
}

TEST_F(CounterSessionWindowsTest, AWindowThatIsCutShortIsFollowedByOthers) {
  options_.planning = {.planned = true, .always_wanted = false};
  Begin();
  StepWhenDue();
  session_->WindowAt(now_ns_, now_ns_);
  session_->Step(now_ns_, true);
  ASSERT_TRUE(session_->sampling());
  session_->CutWindow(now_ns_);
  EXPECT_FALSE(session_->sampling());
  EXPECT_EQ(batches_.size(), 1u);
  EXPECT_EQ(ready_.size(), 1u) << "that may take long, and somebody waits for the end";
  StepWhenDue();
  EXPECT_EQ(ready_.size(), 2u);
}

TEST_F(CounterSessionWindowsTest, APlannedWindowThatCameTooLateIsLeftOut) {
  options_.planning = {.planned = true, .always_wanted = false};
  Begin();
  StepWhenDue();
  session_->WindowAt(now_ns_, now_ns_ + kSecondNs);
  session_->Step(now_ns_ + kSecondNs + 10'000'000, true);
  EXPECT_FALSE(session_->sampling());
  EXPECT_EQ(ready_.size(), 2u) << "ready for another";
  EXPECT_EQ(session_->next_step_ns(), UINT64_MAX);
}

TEST_F(CounterSessionWindowsTest, ANewSetIsConfiguredBeforeItsPlannedWindow) {
  options_.planning = {.planned = true, .always_wanted = false};
  Begin();
  StepWhenDue();
  for (size_t window = 1; sets_.size() < 2; ++window) {
    ASSERT_LT(window, 50u);
    const int configured = fake_.set_configs;
    now_ns_ = std::max(now_ns_, MonotonicNs());
    session_->WindowAt(now_ns_, now_ns_);
    session_->Step(now_ns_, true);
    ASSERT_TRUE(session_->sampling());
    EXPECT_EQ(fake_.set_configs, configured);
    StepWhenDue();
    EXPECT_EQ(ready_.size(), window + 1);
  }
}

TEST_F(CounterSessionWindowsTest, ARequestMakesAPlannedSessionReadySooner) {
  options_.planning = {.planned = true, .always_wanted = false};
  options_.schedule.cpu_budget_ppm = 50'000;
  Begin();
  StepWhenDue();
  session_->WindowAt(now_ns_, now_ns_);
  session_->Step(now_ns_, true);
  StepWhenDue();
  ASSERT_EQ(ready_.size(), 2u);
  session_->RequestWindow(MonotonicNs());
  ASSERT_EQ(ready_.size(), 3u);
  EXPECT_LT(ready_[2].time_ns(), ready_[1].time_ns());
  session_->RequestWindow(MonotonicNs());
  EXPECT_EQ(ready_.size(), 3u) << "nothing new";
  session_->WindowAt(MonotonicNs(), MonotonicNs() + 1'000'000);
  session_->RequestWindow(MonotonicNs());
  EXPECT_EQ(ready_.size(), 3u) << "one is about to begin";
}

TEST_F(CounterSessionWindowsTest, WindowsOfAnIdleGpuDoNotBringTheExtendedSetOn) {
  double& active_cycles = fake_.metrics.at("TPC.TriageCompute.sm__cycles_active.sum");
  const double busy_cycles = active_cycles;
  active_cycles = 0;
  Begin();
  for (int i = 0; i < 20; ++i) Window();
  EXPECT_EQ(sets_.size(), 1u);
  active_cycles = busy_cycles;
  for (int i = 0; i < 13; ++i) Window();
  EXPECT_EQ(sets_.size(), 2u);
}

TEST_F(CounterSessionWindowsTest, WhatTheSamplerDoesBesideWindowsIsOfTheSameBudget) {
  options_.schedule.cpu_budget_ppm = 50'000;
  options_.schedule.cpu_burst_ns = options_.schedule.duty_burst_ns = 100 * kSecondNs;
  Begin();
  Window();
  EXPECT_LT(session_->next_step_ns(), MonotonicNs() + 5 * kSecondNs);
  session_->Spent(101 * kSecondNs);
  Window();
  EXPECT_GT(session_->next_step_ns(), MonotonicNs() + 10 * kSecondNs)
      << "a second is paid in twenty";
}

TEST_F(CounterSessionWindowsTest, BeginsNoWindowWhileItMayNot) {
  Begin();
  session_->Step(now_ns_, false);
  EXPECT_TRUE(session_->works());
  session_->Step(now_ns_ + kSecondNs, false);
  EXPECT_FALSE(session_->sampling());
  session_->Step(now_ns_ + kSecondNs, true);
  EXPECT_TRUE(session_->sampling());
}

}  // namespace
}  // namespace utlz
