// Counters rest between windows where power limits the GPU's clock.
#include <gtest/gtest.h>

#include "collector/clocks.h"
#include "collector/sampler/channel/sampler_command.h"
#include "collector/sampler/counter_session.h"
#include "proto/tracing_cost.h"
#include "tests/unit/sampler/counter_session_fixture.h"

namespace utlz {
namespace {

constexpr uint64_t kNvmlPauseNs = 200 * kMillisecondNs;

class CounterSessionRestTest : public CounterSessionTest {
 protected:
  CounterSessionRestTest() {
    options_.planning = {.planned = true, .always_wanted = false};
    options_.power_loss_ppm = 2500;
    // A window begins by the real clock, which this one leaves behind.
    options_.schedule.duty_burst_ns = UINT64_MAX / 4;
  }

  // Whatever is due until NVML's next reading, and that.
  void Read(bool limited) {
    const uint64_t reading_ns = now_ns_ + kNvmlPauseNs;
    while (session_->next_step_ns() <= reading_ns) StepWhenDue();
    now_ns_ = reading_ns;
    session_->SetPowerLimited(now_ns_, limited);
  }
  // A collector that plans every window that it is offered.
  void PlanAndRead(bool limited) {
    if (!session_->sampling() && session_->next_step_ns() == UINT64_MAX) {
      session_->WindowAt(now_ns_, now_ns_ + kNvmlPauseNs / 2);
    }
    Read(limited);
  }
  void BeginSession() {
    Begin();
    StepWhenDue();
    session_->SetProgress(now_ns_, kProgressSteady);
  }
  // Works at the power limit until the counters are given up.
  void WorkUntilRest() {
    for (int i = 0; i < 1000 && fake_.enabled; ++i) PlanAndRead(true);
    ASSERT_FALSE(fake_.enabled);
  }
  double LossNs() const { return session_->set_counters_cost_ns(); }
};

TEST_F(CounterSessionRestTest, WherePowerLimitsNothingCountersStaySet) {
  BeginSession();
  for (int i = 0; i < 1000; ++i) Read(false);
  EXPECT_TRUE(fake_.enabled);
  EXPECT_EQ(ready_.size(), 1u);
  EXPECT_EQ(LossNs(), 0);
}

TEST_F(CounterSessionRestTest, TheFirstSecondsAtThePowerLimitAreSampledDensely) {
  BeginSession();
  const uint64_t begun_ns = now_ns_;
  WorkUntilRest();
  EXPECT_GT(now_ns_ - begun_ns, 2 * kSecondNs);
  EXPECT_LT(now_ns_ - begun_ns, 4 * kSecondNs);
  EXPECT_GT(session_->statistics().windows, 10u);
  EXPECT_TRUE(session_->works()) << "counters that rest are still ours";
}

TEST_F(CounterSessionRestTest, CountersThatNobodyPlansForRest) {
  BeginSession();
  for (int i = 0; i < 100; ++i) Read(false);
  for (int i = 0; i < 10; ++i) Read(true);
  EXPECT_TRUE(fake_.enabled) << "steps have only begun";
  for (int i = 0; i < 5; ++i) Read(true);
  EXPECT_FALSE(fake_.enabled);
}

TEST_F(CounterSessionRestTest, SaysHowLongBeforeAWindowItMustKnowOfItWhileItRests) {
  BeginSession();
  ASSERT_EQ(ready_.size(), 1u);
  EXPECT_EQ(ready_[0].lead_ns(), 0u);
  const uint64_t window_ns = ready_[0].window_ns();
  WorkUntilRest();
  const SamplerReady& rests = ready_.back();
  EXPECT_GE(rests.lead_ns(), 100 * kMillisecondNs);
  EXPECT_LE(rests.lead_ns(), kSecondNs);
  EXPECT_EQ(rests.window_ns(), window_ns) << "as long as before";
  EXPECT_GT(rests.time_ns(), RealtimeNs() + 8 * kSecondNs) << "when the account has earned it";
  EXPECT_EQ(session_->next_step_ns(), UINT64_MAX);
}

TEST_F(CounterSessionRestTest, SetsThemInTimeForAWindowThatIsPlanned) {
  BeginSession();
  WorkUntilRest();
  const uint64_t windows = session_->statistics().windows;
  const uint64_t lead_ns = ready_.back().lead_ns();
  const uint64_t begin_ns = session_->WindowAt(now_ns_, now_ns_ + 60 * kSecondNs);
  EXPECT_EQ(session_->next_step_ns(), begin_ns - lead_ns);
  session_->Step(begin_ns - lead_ns - 1, true);
  EXPECT_FALSE(fake_.enabled);
  session_->Step(begin_ns - lead_ns, true);
  EXPECT_TRUE(fake_.enabled);
  EXPECT_FALSE(session_->sampling());
  EXPECT_EQ(session_->next_step_ns(), begin_ns);
  session_->Step(begin_ns, true);
  EXPECT_TRUE(session_->sampling());
  session_->Step(session_->next_step_ns(), true);
  EXPECT_EQ(session_->statistics().windows, windows + 1);
  EXPECT_TRUE(fake_.enabled) << "a burst of windows follows";
}

TEST_F(CounterSessionRestTest, SetsNoneWhileAnotherGpuIsSampled) {
  BeginSession();
  WorkUntilRest();
  const uint64_t lead_ns = ready_.back().lead_ns();
  const uint64_t begin_ns = session_->WindowAt(now_ns_, now_ns_ + 60 * kSecondNs);
  session_->Step(begin_ns - lead_ns, /*may_begin=*/true, /*beside=*/true);
  EXPECT_FALSE(fake_.enabled) << "the other window could not be ended meanwhile";
  session_->Step(begin_ns - lead_ns, /*may_begin=*/true);
  EXPECT_TRUE(fake_.enabled);
}

TEST_F(CounterSessionRestTest, SetsThoseOfEveryGpuInTime) {
  BeginSession();
  WorkUntilRest();
  const uint64_t lead_ns = ready_.back().lead_ns();
  session_->SetGpus(4);
  session_->RequestWindow(now_ns_);
  const uint64_t begin_ns = session_->WindowAt(now_ns_, now_ns_ + 60 * kSecondNs);
  EXPECT_EQ(session_->next_step_ns(), begin_ns - 4 * lead_ns) << "one after the other";
}

TEST_F(CounterSessionRestTest, AWindowThatIsPlannedTooSoonIsPutOff) {
  BeginSession();
  WorkUntilRest();
  const uint64_t begin_ns = session_->WindowAt(now_ns_, now_ns_ + kMillisecondNs);
  EXPECT_GT(begin_ns, now_ns_ + 8 * kSecondNs) << "until the account affords it";
}

TEST_F(CounterSessionRestTest, AProgramThatOnlyBeginsToWorkFindsThemSet) {
  // In a start-up what comes in is kept, and the next window may be far off.
  options_.schedule.cpu_budget_ppm = 1;
  options_.schedule.cpu_burst_ns = 0;
  BeginSession();
  for (int i = 0; i < 10; ++i) Read(false);
  for (int i = 0; i < 9; ++i) Read(true);
  EXPECT_TRUE(fake_.enabled);
  for (int i = 0; i < 5; ++i) Read(true);
  EXPECT_FALSE(fake_.enabled) << "but soon they are not worth their cost";
}

TEST_F(CounterSessionRestTest, CountersAreSetAgainOnceNothingLimitsTheClock) {
  BeginSession();
  WorkUntilRest();
  for (int i = 0; i < 20; ++i) Read(false);
  EXPECT_TRUE(fake_.enabled);
  EXPECT_EQ(ready_.back().lead_ns(), 0u);
}

TEST_F(CounterSessionRestTest, OverALongRunTheyCostWhatTheyMay) {
  BeginSession();
  WorkUntilRest();
  const uint64_t begun_ns = now_ns_;
  const uint64_t windows = session_->statistics().windows;
  const double loss_ns = LossNs();
  while (now_ns_ < begun_ns + 600 * kSecondNs) PlanAndRead(true);
  const double share = (LossNs() - loss_ns) / 600e9;
  EXPECT_LT(share, 0.003);
  EXPECT_GT(share, 0.002);
  EXPECT_GT(session_->statistics().windows, windows + 40) << "in bursts";
}

TEST_F(CounterSessionRestTest, WindowsThatAreAlwaysWantedAreNotWithheld) {
  options_.planning = {.planned = true, .always_wanted = true};
  BeginSession();
  for (int i = 0; i < 300; ++i) Read(true);
  EXPECT_TRUE(fake_.enabled);
  EXPECT_GT(LossNs(), 0.5 * 60e9 * kSetCountersSlowdown) << "and what they cost is said";
  session_->SetPlanning(now_ns_, {.planned = true, .always_wanted = false});
  Read(true);
  EXPECT_FALSE(fake_.enabled);
  session_->SetPlanning(now_ns_, {.planned = true, .always_wanted = true});
  Read(true);
  EXPECT_TRUE(fake_.enabled);
}

TEST_F(CounterSessionRestTest, AnotherProfilerMayTakeThemMeanwhile) {
  BeginSession();
  WorkUntilRest();
  fake_.enable_result = cupti::kHardwareBusy;
  const uint64_t begin_ns = session_->WindowAt(now_ns_, now_ns_ + 60 * kSecondNs);
  session_->Step(session_->next_step_ns(), true);
  EXPECT_FALSE(session_->works());
  EXPECT_NE(session_->reason().reason.find("another profiler"), std::string::npos);
  fake_.enable_result = 0;
  now_ns_ = begin_ns;
  StepWhenDue();
  EXPECT_TRUE(session_->works());
  EXPECT_TRUE(fake_.enabled);
}

}  // namespace
}  // namespace utlz
