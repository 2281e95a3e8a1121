#include "inject/tracing/trace_budget.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/nanoseconds.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kTurnNs = 5 * kMillisecondNs;
constexpr uint64_t kWindowNs = 25 * kMillisecondNs;
constexpr uint64_t kCreditNs = 50 * kMillisecondNs;  // at a budget of 1 %

// A load that launches at a rate while time passes; only what is traced is seen. A collector plans
// a window every `period_ns`, as soon as the budget is ready for it.
struct Simulation {
  explicit Simulation(const TraceBudget& begun = TraceBudget()) : budget(begun) {}

  void Run(uint64_t duration_ns, uint64_t launches_per_second, uint64_t nodes_per_second) {
    const uint64_t end_ns = now_ns + duration_ns;
    for (; now_ns < end_ns; now_ns += kTurnNs) {
      Plan();
      const bool traces = budget.ShouldTrace(now_ns, launches, graph_nodes, window);
      const bool inside = window.begin_ns <= now_ns && now_ns < window.end_ns;
      if (inside) (traces ? traced_window_ns : missed_window_ns) += kTurnNs;
      times_begun += traces && !traced_before ? 1 : 0;
      traced_before = traces;
      if (!traces) continue;
      traced_ns += kTurnNs;
      launches += launches_per_second * kTurnNs / kSecondNs;
      graph_nodes += nodes_per_second * kTurnNs / kSecondNs;
    }
  }
  void Plan() {
    if (period_ns == 0 || now_ns < window.end_ns) return;
    window.begin_ns = std::max(now_ns + period_ns, budget.ReadyNs(now_ns));
    window.end_ns = window.begin_ns + kWindowNs;
  }
  uint64_t TracingCostNs() const {
    return launches * kTracedLaunchNs + graph_nodes * kTracedGraphNodeNs;
  }
  double CostNs() const {
    return static_cast<double>(TracingCostNs()) +
           kSamplingSlowdown * static_cast<double>(traced_window_ns);
  }

  TraceBudget budget;
  uint64_t period_ns = 200 * kMillisecondNs;
  uint64_t now_ns = kSecondNs;
  PlannedWindow window;
  uint64_t launches = 0;
  uint64_t graph_nodes = 0;
  bool traced_before = false;
  uint64_t traced_ns = 0;
  uint64_t traced_window_ns = 0;
  uint64_t times_begun = 0;
  uint64_t missed_window_ns = 0;
};

// By default of a run, whose credit is an advance.
double AllowedNs(uint64_t duration_ns, uint32_t budget_ppm) {
  const uint64_t advance_ns = std::min(duration_ns, TraceBudget::kAdvanceNs);
  const double shares =
      static_cast<double>(advance_ns) * TraceBudget::kShareDuringAdvance +
      static_cast<double>(duration_ns - advance_ns) * TraceBudget::kShareForTracing;
  return shares * budget_ppm / 1e6 + static_cast<double>(TraceBudget::CreditNs(budget_ppm));
}

double AllowedNs(uint64_t duration_ns, uint32_t budget_ppm, uint64_t credit_ns) {
  return static_cast<double>(duration_ns) * TraceBudget::kShareForTracing * budget_ppm / 1e6 +
         static_cast<double>(credit_ns);
}

TEST(TraceBudget, TracesEverythingThatIsAffordable) {
  Simulation simulation;
  simulation.budget.Start(simulation.now_ns, 10'000);
  simulation.Run(60 * kSecondNs, 5'000, 0);
  EXPECT_EQ(simulation.traced_ns, 60 * kSecondNs);
}

TEST(TraceBudget, KeepsALaunchStormWithinItsShareAfterTheCredit) {
  for (uint64_t period_ns : {0 * kMillisecondNs, 50 * kMillisecondNs, 1600 * kMillisecondNs}) {
    for (uint32_t ppm : {1'000u, 10'000u, 50'000u}) {
      Simulation simulation;
      simulation.period_ns = period_ns;
      simulation.budget.Start(simulation.now_ns, ppm);
      simulation.Run(600 * kSecondNs, 70'000, 200'000);
      const double allowed_ns = AllowedNs(600 * kSecondNs, ppm);
      EXPECT_LE(simulation.CostNs(), allowed_ns * 1.02) << ppm << " " << period_ns;
      EXPECT_GE(simulation.CostNs(), allowed_ns * 0.85)
          << ppm << " " << period_ns << ": the budget is there to be used";
    }
  }
}

TEST(TraceBudget, SaysWhatAllTracingHasCost) {
  for (uint32_t ppm : {0u, 10'000u}) {
    Simulation simulation;
    simulation.budget.Start(simulation.now_ns, ppm);
    simulation.Run(60 * kSecondNs, 70'000, 200'000);
    simulation.budget.ShouldTrace(simulation.now_ns, simulation.launches, simulation.graph_nodes,
                                  simulation.window);
    EXPECT_EQ(simulation.budget.tracing_cost_ns(), simulation.TracingCostNs()) << ppm;
  }
}

TEST(TraceBudget, SeesTheFirstMomentsOfAGraphReplayWhole) {
  Simulation simulation;
  simulation.budget.Start(simulation.now_ns, 10'000);
  simulation.Run(3 * kSecondNs / 20, 0, 166'000);
  EXPECT_EQ(simulation.traced_ns, 3 * kSecondNs / 20);
}

// A short attachment to an eager decode: what the sampler sees is traced, from the first window on.
TEST(TraceBudget, TracesThroughEveryPlannedWindowOfAnAttachment) {
  Simulation simulation(TraceBudget::ForAttachment());
  simulation.budget.Start(simulation.now_ns, 10'000);
  simulation.Run(5 * kSecondNs / 2, 68'000, 0);
  EXPECT_EQ(simulation.missed_window_ns, 0u);
  EXPECT_GE(simulation.traced_window_ns, kWindowNs);
  EXPECT_LE(simulation.CostNs(),
            AllowedNs(5 * kSecondNs / 2, 10'000, TraceBudget::kAttachmentCreditNs) * 1.1);
}

// An attachment to an eager and to a graph decode: the steps that it slows are too few for the 99th
// percentile, also at the beginning; longer windows of time are no worse.
TEST(TraceBudget, AnAttachmentTouchesFewerStepsThanItsBudgetsShare) {
  for (const auto& [launches, nodes] : {std::pair(68'000, 0), std::pair(1'700, 230'000)}) {
    Simulation simulation(TraceBudget::ForAttachment());
    simulation.budget.Start(simulation.now_ns, 10'000);
    EXPECT_TRUE(simulation.budget.ChargesTime()) << "until it is known what it feels";
    simulation.Run(10 * kSecondNs, launches, nodes);
    EXPECT_TRUE(simulation.budget.ChargesTime());
    EXPECT_LT(simulation.traced_ns, kSecondNs / 10);
    EXPECT_GE(simulation.traced_window_ns, kWindowNs);
    EXPECT_EQ(simulation.missed_window_ns, 0u);
    simulation.Run(90 * kSecondNs, launches, nodes);
    EXPECT_LT(simulation.traced_ns, kSecondNs);
    EXPECT_GE(simulation.traced_window_ns, 7 * kWindowNs);
  }
}

// A graph decode's traced steps are a quarter longer: few enough of them to move the 99th
// percentile of the others by little.
TEST(TraceBudget, AnAttachmentTouchesEvenFewerStepsWhereTheyStandOut) {
  const auto traced_ns = [](uint64_t launches, uint64_t nodes) {
    Simulation simulation(TraceBudget::ForAttachment());
    simulation.budget.Start(simulation.now_ns, 10'000);
    simulation.Run(10 * kSecondNs, launches, nodes);
    EXPECT_EQ(simulation.missed_window_ns, 0u);
    EXPECT_GE(simulation.traced_window_ns, kWindowNs);
    return simulation.traced_ns;
  };
  EXPECT_LT(traced_ns(1'700, 230'000), 40 * kMillisecondNs);
  EXPECT_GT(traced_ns(68'000, 0), 60 * kMillisecondNs) << "an eager decode's hardly do";
}

TEST(TraceBudget, AnAttachmentToWhatTracingHardlySlowsIsNotCutShort) {
  Simulation simulation(TraceBudget::ForAttachment());
  simulation.budget.Start(simulation.now_ns, 10'000);
  simulation.Run(10 * kSecondNs, 15'000, 0);
  EXPECT_GT(simulation.traced_ns, 3 * kSecondNs);
  EXPECT_FALSE(simulation.budget.ChargesTime());
}

TEST(TraceBudget, WhatIsLeftIsSpentOnLongWindows) {
  Simulation simulation;
  simulation.period_ns = 2 * kSecondNs;
  simulation.budget.Start(simulation.now_ns, 10'000);
  simulation.Run(60 * kSecondNs, 68'000, 0);
  uint64_t short_windows = 0, long_windows = 0, begun_ns = 0, traced_before_ns = 0;
  for (const uint64_t end_ns = simulation.now_ns + 60 * kSecondNs; simulation.now_ns < end_ns;) {
    const bool traced_before = simulation.traced_before;
    simulation.Run(kTurnNs, 68'000, 0);
    if (simulation.traced_before && !traced_before) {
      begun_ns = simulation.now_ns - kTurnNs;
      traced_before_ns = simulation.traced_ns - kTurnNs;
      EXPECT_GE(begun_ns + TraceBudget::kMostAheadNs, simulation.window.begin_ns);
    } else if (!simulation.traced_before && traced_before && begun_ns != 0) {
      const uint64_t length_ns = simulation.traced_ns - traced_before_ns;
      const bool is_short = length_ns <= kWindowNs + TraceBudget::kMostAheadNs;
      ++(is_short ? short_windows : long_windows);
      if (!is_short) {
        EXPECT_GE(length_ns, 5 * kWindowNs);
      }
    }
  }
  EXPECT_GT(short_windows, long_windows);
  EXPECT_GT(long_windows, 0);
}

TEST(TraceBudget, GoesBackToTracingThroughoutWhenTheLoadEases) {
  Simulation simulation;
  simulation.budget.Start(simulation.now_ns, 10'000);
  simulation.Run(20 * kSecondNs, 70'000, 0);
  simulation.Run(20 * kSecondNs, 1'000, 0);
  const uint64_t before_ns = simulation.traced_ns;
  simulation.Run(20 * kSecondNs, 1'000, 0);
  EXPECT_EQ(simulation.traced_ns - before_ns, 20 * kSecondNs);
}

// Where no window is planned, it saves up for a stretch instead of switching on and off.
TEST(TraceBudget, WithoutWindowsItTracesInLongStretches) {
  Simulation simulation;
  simulation.period_ns = 0;
  simulation.budget.Start(simulation.now_ns, 10'000);
  simulation.Run(600 * kSecondNs, 70'000, 0);
  const double saved_ns =
      static_cast<double>(TraceBudget::kMostSaved * kCreditNs - TraceBudget::kReserveNs);
  const double earned_ns = AllowedNs(600 * kSecondNs, 10'000, 0);
  EXPECT_LE(simulation.times_begun, 2 + earned_ns / saved_ns);
  EXPECT_GE(simulation.times_begun, earned_ns / saved_ns / 2);
}

TEST(TraceBudget, AWindowThatWasNotTracedCostsNothing) {
  const auto ready_ns = [](const PlannedWindow& window) {
    TraceBudget budget;
    budget.Start(kSecondNs, 10'000);
    // 200 ms of tracing: twice the credit.
    constexpr uint64_t kLaunches = 200 * kMillisecondNs / kTracedLaunchNs;
    uint64_t now_ns = kSecondNs;
    for (; now_ns < 2 * kSecondNs; now_ns += kTurnNs) {
      EXPECT_EQ(budget.ShouldTrace(now_ns, now_ns == kSecondNs ? 0 : kLaunches, 0, window),
                now_ns == kSecondNs);
    }
    return budget.ReadyNs(now_ns);
  };
  const uint64_t without_ns = ready_ns({});
  EXPECT_GT(without_ns, 2 * kSecondNs);
  EXPECT_EQ(ready_ns({kSecondNs + 500 * kMillisecondNs, kSecondNs + 900 * kMillisecondNs}),
            without_ns);
}

// Half a second of many launches, half a second of none: a window is expected to cost the mean.
TEST(TraceBudget, KnowsWhatTracingCostOverAllOfItsLastStretch) {
  TraceBudget budget;
  uint64_t now_ns = kSecondNs;
  budget.Start(now_ns, 10'000);
  constexpr uint64_t kLaunches = 20 * kMillisecondNs / kTracedLaunchNs;
  for (; now_ns < kSecondNs + 500 * kMillisecondNs; now_ns += kTurnNs) {
    ASSERT_TRUE(budget.ShouldTrace(
        now_ns, kLaunches * (now_ns - kSecondNs) / (500 * kMillisecondNs), 0, {}));
  }
  for (; now_ns < 2 * kSecondNs; now_ns += kTurnNs) {
    ASSERT_TRUE(budget.ShouldTrace(now_ns, kLaunches, 0, {}));
  }
  constexpr uint64_t kMore = 40 * kMillisecondNs / kTracedLaunchNs;
  ASSERT_FALSE(budget.ShouldTrace(now_ns, kLaunches + kMore, 0, {}));
  now_ns += kTurnNs;
  ASSERT_FALSE(budget.ShouldTrace(now_ns, kLaunches + kMore, 0, {}));
  // 60 ms in a second; the account is 50 - 60 ms and what was earned meanwhile.
  const double earned_ns = TraceBudget::kShareForTracing * 0.01 * 1e9;
  const double share = TraceBudget::kShareDuringAdvance * 0.01;
  const double window_ns =
      (0.06 + kSamplingSlowdown - share) * static_cast<double>(TraceBudget::kExpectedWindowNs);
  const double account_ns = -10e6 + earned_ns;
  EXPECT_NEAR(static_cast<double>(budget.ReadyNs(now_ns) - now_ns),
              (window_ns - account_ns) / share, 20e6);
}

TEST(TraceBudget, TimeInactiveIsNotTimeThatWasTraced) {
  const auto wait_ns = [](uint64_t inactive_ns) {
    TraceBudget budget;
    uint64_t now_ns = kSecondNs;
    budget.Start(now_ns, 10'000);
    constexpr uint64_t kLaunches = 20 * kMillisecondNs / kTracedLaunchNs;
    for (; now_ns < kSecondNs + 500 * kMillisecondNs; now_ns += kTurnNs) {
      EXPECT_TRUE(budget.ShouldTrace(
          now_ns, kLaunches * (now_ns - kSecondNs) / (500 * kMillisecondNs), 0, {}));
    }
    now_ns += inactive_ns;
    budget.Inactive(now_ns);
    constexpr uint64_t kAll = kLaunches + 40 * kMillisecondNs / kTracedLaunchNs;
    for (int turn = 0; turn < 2; ++turn) {
      now_ns += kTurnNs;
      EXPECT_FALSE(budget.ShouldTrace(now_ns, kAll, 0, {}));
    }
    return static_cast<double>(budget.ReadyNs(now_ns) - now_ns);
  };
  EXPECT_NEAR(wait_ns(100 * kSecondNs), wait_ns(0), 1e6);
}

TEST(TraceBudget, WhatWindowsLeaveInLaunchesIsLessForWindows) {
  for (const auto& [hook_share, left] : {std::pair(0.0, 0.007), std::pair(0.004, 0.003),
                                         std::pair(0.009, TraceBudget::kLeastShare * 0.01)}) {
    Simulation simulation;
    simulation.budget.Start(simulation.now_ns, 10'000);
    simulation.budget.SetHookShare(hook_share);
    simulation.Run(60 * kSecondNs, 70'000, 0);
    const double before_ns = simulation.CostNs();
    simulation.Run(600 * kSecondNs, 70'000, 0);
    EXPECT_NEAR((simulation.CostNs() - before_ns) / 600e9, left, 0.05 * left) << hook_share;
  }
}

// All of the first ten seconds of a program that launches much, and of a minute.
TEST(TraceBudget, TheCreditIsAnAdvanceOnTheFirstTenSeconds) {
  for (const uint64_t launches_per_second : {30'000, 70'000, 300'000}) {
    Simulation simulation;
    simulation.budget.Start(simulation.now_ns, 10'000);
    simulation.Run(10 * kSecondNs, launches_per_second, 0);
    EXPECT_LT(simulation.CostNs(), 0.0085 * 10e9) << launches_per_second;
    simulation.Run(50 * kSecondNs, launches_per_second, 0);
    EXPECT_LT(simulation.CostNs(), 0.0075 * 60e9) << launches_per_second;
    EXPECT_GT(simulation.CostNs(), 0.006 * 60e9) << launches_per_second;
  }
}

TEST(TraceBudget, ChargesWhatLaunchesCostMoreThanTheLeast) {
  TraceBudget budget;
  budget.Start(kSecondNs, 10'000);
  budget.ShouldTrace(kSecondNs + kTurnNs, 100, 0, {});
  budget.SetHostCost(3000);
  budget.ShouldTrace(kSecondNs + 2 * kTurnNs, 100, 0, {});
  EXPECT_EQ(budget.tracing_cost_ns(), 100 * kTracedLaunchNs + 3000);
  budget.SetScale(2);
  budget.SetHostCost(4000);
  budget.ShouldTrace(kSecondNs + 3 * kTurnNs, 200, 0, {});
  EXPECT_EQ(budget.tracing_cost_ns(), 300 * kTracedLaunchNs + 5000);
  EXPECT_EQ(budget.cost_by_figures_ns(), 200 * kTracedLaunchNs + 4000) << "without the scale";
}

TEST(TraceBudget, ChargesWhatLaunchesCostThisProgram) {
  TraceBudget budget;
  budget.Start(kSecondNs, 10'000);
  budget.ShouldTrace(kSecondNs + kTurnNs, 100, 10, {});
  const uint64_t by_the_figures_ns = budget.tracing_cost_ns();
  EXPECT_EQ(by_the_figures_ns, 100 * kTracedLaunchNs + 10 * kTracedGraphNodeNs);
  budget.SetScale(2);
  budget.ShouldTrace(kSecondNs + 2 * kTurnNs, 200, 20, {});
  EXPECT_EQ(budget.tracing_cost_ns(), 3 * by_the_figures_ns);
}

TEST(TraceBudget, ChargesStacksOfLaunches) {
  constexpr uint64_t kLaunches = 10'000;
  TraceBudget with, without;
  for (TraceBudget* budget : {&with, &without}) budget->Start(0, 10'000);
  with.SetStacksRead(kLaunches);
  for (TraceBudget* budget : {&with, &without}) {
    budget->ShouldTrace(kMillisecondNs, kLaunches, 0, {});
  }
  EXPECT_EQ(with.tracing_cost_ns(), without.tracing_cost_ns() + kLaunches * kStackOfLaunchNs);
  for (TraceBudget* budget : {&with, &without}) {
    budget->ShouldTrace(2 * kMillisecondNs, kLaunches, 0, {});
  }
  EXPECT_EQ(with.tracing_cost_ns(), without.tracing_cost_ns() + kLaunches * kStackOfLaunchNs);
}

TEST(TraceBudget, AnEmptyAccountPaysForNoWindow) {
  Simulation simulation;
  simulation.budget.Start(simulation.now_ns, 10'000);
  const uint64_t now_ns = simulation.now_ns + kMillisecondNs;
  EXPECT_FALSE(simulation.budget.ShouldTrace(now_ns, 1'000'000, 0, {}));
  EXPECT_GT(simulation.budget.ReadyNs(now_ns), now_ns + 60 * kSecondNs);
  EXPECT_FALSE(simulation.budget.ShouldTrace(now_ns + kMillisecondNs, 1'000'000, 0,
                                             {now_ns, now_ns + kWindowNs}));
}

// New work cannot wait for an account that a planned window has just emptied.
TEST(TraceBudget, AnUnplannedWindowMayOweALittle) {
  for (const auto& [owed_ms, may_begin] : {std::pair(5, true), std::pair(15, false)}) {
    Simulation simulation;
    simulation.budget.Start(simulation.now_ns, 10'000);
    const uint64_t now_ns = simulation.now_ns + kMillisecondNs;
    const uint64_t launches =
        (kCreditNs + static_cast<uint64_t>(owed_ms) * kMillisecondNs) / kTracedLaunchNs;
    ASSERT_FALSE(simulation.budget.ShouldTrace(now_ns, launches, 0, {}));
    EXPECT_FALSE(simulation.budget.ShouldTrace(now_ns, launches, 0, {now_ns, now_ns + kWindowNs}));
    const PlannedWindow window = simulation.budget.Unplanned(now_ns);
    EXPECT_EQ(window.begin_ns, may_begin ? now_ns : 0);
    EXPECT_EQ(simulation.budget.ShouldTrace(now_ns, launches, 0, window), may_begin);
  }
}

// The same once planned windows come at a pace, and may themselves begin while the account owes.
TEST(TraceBudget, AnUnplannedWindowMayOweALittleMoreThanPlannedOnes) {
  Simulation simulation;
  TraceBudget& budget = simulation.budget;
  budget.Start(simulation.now_ns, 10'000);
  simulation.Run(10 * kSecondNs, 50'000, 0);
  const uint64_t now_ns = simulation.window.end_ns;
  const auto owes = [&](uint64_t more_ns) {
    simulation.launches += more_ns / kTracedLaunchNs;
    return budget.ShouldTrace(now_ns, simulation.launches, 0, {});
  };
  const auto begins_planned = [&] {
    return TraceBudget(budget).ShouldTrace(now_ns, simulation.launches, 0,
                                           {now_ns, now_ns + kWindowNs});
  };
  ASSERT_FALSE(owes(0));
  ASSERT_TRUE(begins_planned());
  while (begins_planned()) ASSERT_FALSE(owes(kMillisecondNs));
  const PlannedWindow window = budget.Unplanned(now_ns);
  ASSERT_EQ(window.begin_ns, now_ns);
  EXPECT_TRUE(TraceBudget(budget).ShouldTrace(now_ns, simulation.launches, 0, window));
  ASSERT_FALSE(owes(TraceBudget::kOverdraftNs));
  EXPECT_EQ(budget.Unplanned(now_ns).end_ns, 0u);
}

TEST(TraceBudget, PlannedWindowsHaveTheirTurnBetweenUnplannedOnes) {
  Simulation simulation;
  simulation.budget.Start(simulation.now_ns, 10'000);
  uint64_t now_ns = simulation.now_ns + kMillisecondNs;
  const uint64_t emptied = kCreditNs / kTracedLaunchNs;
  ASSERT_FALSE(simulation.budget.ShouldTrace(now_ns, emptied, 0, {}));
  const PlannedWindow unplanned = simulation.budget.Unplanned(now_ns);
  ASSERT_TRUE(simulation.budget.ShouldTrace(now_ns, emptied, 0, unplanned));
  now_ns = unplanned.end_ns;
  ASSERT_FALSE(simulation.budget.ShouldTrace(now_ns, emptied, 0, unplanned));
  now_ns += kSecondNs;
  ASSERT_FALSE(simulation.budget.ShouldTrace(now_ns, emptied, 0, {}));
  EXPECT_EQ(simulation.budget.Unplanned(now_ns).end_ns, 0u) << "it could be paid for";
  const PlannedWindow planned = {now_ns, now_ns + kWindowNs};
  ASSERT_TRUE(simulation.budget.ShouldTrace(now_ns, emptied, 0, planned));
  ASSERT_FALSE(simulation.budget.ShouldTrace(planned.end_ns, emptied, 0, planned));
  EXPECT_NE(simulation.budget.Unplanned(planned.end_ns).end_ns, 0u);
}

TEST(TraceBudget, EarnsNothingInactive) {
  Simulation simulation;
  simulation.budget.Start(simulation.now_ns, 10'000);
  simulation.Run(60 * kSecondNs, 70'000, 0);
  const uint64_t end_ns = simulation.now_ns;
  ASSERT_FALSE(simulation.budget.ShouldTrace(end_ns, simulation.launches + 100'000, 0, {}));
  const uint64_t later_ns = end_ns + 3'600 * kSecondNs;
  simulation.budget.Inactive(later_ns);
  EXPECT_FALSE(simulation.budget.ShouldTrace(later_ns + kTurnNs, simulation.launches + 100'000, 0,
                                             {later_ns, later_ns + kWindowNs}));
}

TEST(TraceBudget, UnlimitedNeverStops) {
  Simulation simulation;
  simulation.budget.Start(simulation.now_ns, 0);
  simulation.Run(10 * kSecondNs, 1'000'000, 0);
  EXPECT_EQ(simulation.traced_ns, 10 * kSecondNs);
  EXPECT_EQ(simulation.budget.ReadyNs(simulation.now_ns), 0u);
}

}  // namespace
}  // namespace utlz::agent
