#include "collector/sampler/window_schedule.h"

#include <gtest/gtest.h>

#include "tests/support/nanoseconds.h"

namespace utlz {
namespace {

struct Usage {
  double on_share;
  double cpu_share;
  uint64_t windows;
};

// Runs the schedule for `seconds`; a window costs `cpu_per_on` of its length in CPU time.
Usage Simulate(WindowSchedule* schedule, double seconds, double cpu_per_on, bool idle = false) {
  const auto end_ns = static_cast<uint64_t>(seconds * 1e9);
  uint64_t on_ns = 0;
  uint64_t cpu_ns = 0;
  uint64_t windows = 0;
  while (schedule->next_start_ns() < end_ns) {
    const uint64_t window_ns = schedule->window_ns();
    const auto window_cpu_ns = static_cast<uint64_t>(static_cast<double>(window_ns) * cpu_per_on);
    const uint64_t now_ns = schedule->next_start_ns() + window_ns + window_cpu_ns;
    on_ns += window_ns;
    cpu_ns += window_cpu_ns;
    ++windows;
    schedule->Finished(now_ns, window_ns, window_cpu_ns, idle);
    EXPECT_GE(schedule->next_start_ns(), now_ns);
  }
  return {static_cast<double>(on_ns) / seconds * 1e-9, static_cast<double>(cpu_ns) / seconds * 1e-9,
          windows};
}

TEST(WindowSchedule, BeginsAtOnce) {
  const WindowSchedule schedule({}, 5 * kSecondNs);
  EXPECT_EQ(schedule.next_start_ns(), 5 * kSecondNs);
}

TEST(WindowSchedule, KeepsTheCpuBudgetOverALongRun) {
  WindowScheduleOptions options;
  options.cpu_budget_ppm = 50'000;
  WindowSchedule schedule(options, 0);
  const Usage usage = Simulate(&schedule, 600, 3);
  const double burst_share = static_cast<double>(options.cpu_burst_ns) * 1e-9 / 600;
  EXPECT_LE(usage.cpu_share, 0.05 + burst_share + 0.001);
  EXPECT_GE(usage.cpu_share, 0.03);
}

// The credit of two seconds is 3.3 % of a minute by itself.
TEST(WindowSchedule, KeepsTheCpuBudgetOnceTheCreditIsPaidBack) {
  WindowScheduleOptions options;
  options.cpu_budget_ppm = 45'000;
  options.cpu_burst_ns = 2 * kSecondNs;
  for (const double seconds : {90.0, 120.0, 600.0}) {
    WindowSchedule schedule(options, 0);
    const Usage usage = Simulate(&schedule, seconds, 3);
    const double a_window = 0.09 / seconds;  // may begin with what is left
    EXPECT_LE(usage.cpu_share, 0.045 + a_window + 0.0001) << seconds << " s";
    EXPECT_GE(usage.cpu_share, 0.035) << seconds << " s";
  }
  WindowSchedule schedule(options, 0);
  EXPECT_GE(Simulate(&schedule, 5, 3).cpu_share, 0.3) << "but a fresh run is sampled densely";
}

TEST(WindowSchedule, KeepsTheDutyOverALongRun) {
  WindowScheduleOptions options;
  options.cpu_budget_ppm = 1'000'000;
  options.minimum_pause_ns = 0;
  options.duty_ppm = 10'000;
  options.duty_burst_ns = kSecondNs;
  WindowSchedule schedule(options, 0);
  const Usage usage = Simulate(&schedule, 1000, 0.01);
  EXPECT_LE(usage.on_share, 0.01 + 0.001 + 0.0001);
  EXPECT_GE(usage.on_share, 0.007);
}

TEST(WindowSchedule, SpendsItsCreditEarly) {
  WindowSchedule early({}, 0);
  WindowSchedule late({}, 0);
  const Usage first = Simulate(&early, 5, 3);
  Simulate(&late, 100, 3);
  const uint64_t windows_of_a_late_five_seconds = Simulate(&late, 105, 3).windows;
  EXPECT_GT(first.windows, 2 * windows_of_a_late_five_seconds);
}

TEST(WindowSchedule, WithoutABudgetOneWindowFollowsTheOther) {
  WindowScheduleOptions options;
  options.cpu_budget_ppm = 0;
  WindowSchedule schedule(options, 0);
  EXPECT_GT(Simulate(&schedule, 10, 0.1).on_share, 0.85);
}

TEST(WindowSchedule, LooksOnlyBrieflyAtAnIdleGpu) {
  WindowSchedule schedule({}, 0);
  const uint64_t busy_window_ns = schedule.window_ns();
  schedule.Finished(kSecondNs, busy_window_ns, 0, /*idle=*/true);
  EXPECT_LT(schedule.window_ns(), busy_window_ns);
  schedule.Finished(2 * kSecondNs, schedule.window_ns(), 0, /*idle=*/false);
  EXPECT_EQ(schedule.window_ns(), busy_window_ns);
}

TEST(WindowSchedule, ZeroDutyMeansNeverUntilItIsRaised) {
  WindowScheduleOptions options;
  options.duty_ppm = 0;
  WindowSchedule schedule(options, 0);
  EXPECT_EQ(schedule.next_start_ns(), UINT64_MAX);
  schedule.RequestWindow(kSecondNs);
  EXPECT_EQ(schedule.next_start_ns(), UINT64_MAX);
  schedule.SetDuty(2 * kSecondNs, 1'000'000);
  EXPECT_LT(schedule.next_start_ns(), 3 * kSecondNs);
}

TEST(WindowSchedule, OverflowsShortenWindowsAndQuietLengthensThem) {
  WindowSchedule schedule({}, 0);
  const uint64_t full_ns = schedule.window_ns();
  schedule.Overflowed();
  EXPECT_EQ(schedule.window_ns(), full_ns / 2);
  for (int i = 0; i < 100; ++i) schedule.Overflowed();
  EXPECT_EQ(schedule.window_ns(), WindowScheduleOptions{}.minimum_window_ns);
  for (uint64_t i = 0; i < 1000; ++i) {
    schedule.Finished(i * kSecondNs, kMillisecondNs, kMillisecondNs, false);
  }
  EXPECT_EQ(schedule.window_ns(), full_ns);
}

TEST(WindowSchedule, ARequestBringsTheNextWindowForwardButNotBeyondTheCredit) {
  WindowSchedule schedule({}, 0);
  schedule.Finished(kSecondNs, 30 * kMillisecondNs, 90 * kMillisecondNs, false);
  EXPECT_GT(schedule.next_start_ns(), kSecondNs);
  schedule.RequestWindow(kSecondNs);
  EXPECT_EQ(schedule.next_start_ns(), kSecondNs);
  schedule.Finished(2 * kSecondNs, 30 * kMillisecondNs, 100 * kSecondNs, false);
  schedule.RequestWindow(2 * kSecondNs);
  EXPECT_GT(schedule.next_start_ns(), 3 * kSecondNs);
}

TEST(WindowSchedule, PausesAreDithered) {
  WindowSchedule schedule({}, 0);
  uint64_t last_pause_ns = 0;
  int different = 0;
  for (uint64_t i = 1; i < 20; ++i) {
    const uint64_t now_ns = i * 10 * kSecondNs;
    schedule.Finished(now_ns, 0, 0, false);
    different += schedule.next_start_ns() - now_ns != last_pause_ns ? 1 : 0;
    last_pause_ns = schedule.next_start_ns() - now_ns;
  }
  EXPECT_GE(different, 18);
}

// What a start-up of 18 s may take of the credit, and what is left for the steps.
TEST(WindowSchedule, KeepsAPartOfTheCreditForSteadyWork) {
  WindowScheduleOptions options;
  options.cpu_budget_ppm = 42'000;
  options.cpu_burst_ns = 2 * kSecondNs;
  options.steady_reserve_ns = kSecondNs;
  WindowSchedule schedule(options, 0);
  const double start_up = Simulate(&schedule, 18, 3).cpu_share * 18;
  EXPECT_GE(start_up, 1.0) << "what is not kept is spent at once";
  EXPECT_LE(start_up, 1.0 + 18 * 0.021 / 4 + 0.09) << "and little of what comes in";
  const uint64_t before_ns = schedule.next_start_ns();
  schedule.SetSteady(18 * kSecondNs, true);
  EXPECT_LT(schedule.next_start_ns(), before_ns) << "and the rest is there at once";
  const double steps = Simulate(&schedule, 22, 3).cpu_share * 22;
  EXPECT_GE(steps, 0.9);
}

TEST(WindowSchedule, WithoutAReserveSteadyWorkIsLikeAnyOther) {
  WindowSchedule schedule({}, 0);
  WindowSchedule steady({}, 0);
  steady.SetSteady(0, true);
  EXPECT_EQ(Simulate(&schedule, 20, 3).windows, Simulate(&steady, 20, 3).windows);
}

WindowScheduleOptions OptionsOfARun() {
  WindowScheduleOptions options;
  options.cpu_budget_ppm = 42'000;
  options.cpu_burst_ns = 2 * kSecondNs;
  options.steady_reserve_ns = SteadyReserveNs(options.cpu_burst_ns);
  return options;
}

// What is kept for the steps is of what setting up leaves: it must not leave nothing for what comes
// before them.
TEST(WindowSchedule, SettingUpIsPaidByBoth) {
  WindowSchedule schedule(OptionsOfARun(), 0);
  schedule.SetUp(720 * kMillisecondNs);
  const double start_up = Simulate(&schedule, 2, 3).cpu_share * 2;
  EXPECT_GE(start_up, 0.27) << "three windows of 90 ms";
  EXPECT_LE(start_up, 0.45);
}

// Windows in the first second of steps, before anybody knows that they repeat themselves.
uint64_t WindowsInAHurry(bool hurried, uint32_t idle_ppm, bool idle_gpu) {
  WindowSchedule schedule(OptionsOfARun(), 0);
  schedule.SetUp(700 * kMillisecondNs);
  schedule.SetHurried(0, hurried);
  schedule.SetIdleCpu(0, idle_ppm);
  return Simulate(&schedule, 1, 3, idle_gpu).windows;
}

TEST(WindowSchedule, InAHurryIdleCoresPayBeforeTheLoadIsSteady) {
  EXPECT_GE(WindowsInAHurry(true, 1'000'000, false), 8u) << "of 120 ms, reading it included";
  EXPECT_LE(WindowsInAHurry(false, 1'000'000, false), 5u);
  EXPECT_LE(WindowsInAHurry(true, 0, false), 5u) << "the credit is kept";
}

TEST(WindowSchedule, InAHurryAGpuThatIdlesIsLookedAtAllTheTime) {
  EXPECT_GE(WindowsInAHurry(true, 1'000'000, true), 8u);
  EXPECT_LE(WindowsInAHurry(false, 1'000'000, true), 3u) << "a pause of 0.4 s after each";
  WindowScheduleOptions options;
  WindowSchedule schedule(options, 0);
  schedule.SetHurried(0, true);
  schedule.SetSteady(0, true);
  schedule.Finished(30 * kMillisecondNs, 30 * kMillisecondNs, 90 * kMillisecondNs, true);
  EXPECT_EQ(schedule.next_start_ns(), 30 * kMillisecondNs);
  EXPECT_EQ(schedule.window_ns(), options.idle_window_ns) << "CPU time is scarce: many short ones";
  schedule.SetIdleCpu(30 * kMillisecondNs, 1'000'000);
  EXPECT_EQ(schedule.window_ns(), options.window_ns);
}

TEST(WindowSchedule, AHurryBringsTheNextWindowForward) {
  WindowSchedule schedule({}, 0);
  schedule.SetSteady(0, true);
  schedule.Finished(30 * kMillisecondNs, 30 * kMillisecondNs, 90 * kMillisecondNs, true);
  ASSERT_GT(schedule.next_start_ns(), 400 * kMillisecondNs);
  EXPECT_FALSE(schedule.early());
  schedule.SetHurried(40 * kMillisecondNs, true);
  EXPECT_EQ(schedule.next_start_ns(), 40 * kMillisecondNs);
  EXPECT_FALSE(schedule.early()) << "the load is steady";
  schedule.SetSteady(50 * kMillisecondNs, false);
  EXPECT_TRUE(schedule.early());
}

// A start-up of 18 s, in which kernels are tried out.
TEST(WindowSchedule, InAHurryIdleCoresPayLittleBeforeTheLoadIsSteady) {
  WindowSchedule schedule(OptionsOfARun(), 0);
  schedule.SetHurried(0, true);
  schedule.SetIdleCpu(0, 4'000'000);
  const double start_up = Simulate(&schedule, 18, 3).cpu_share * 18;
  EXPECT_GE(start_up, 1.0);
  EXPECT_LE(start_up, 1.0 + 0.2 + 18 * 0.021 + 0.18);
  schedule.SetSteady(18 * kSecondNs, true);
  EXPECT_LE(schedule.next_start_ns(), 18 * kSecondNs);
}

TEST(WindowSchedule, ADebtThatHardlyAnythingComesInForIsWaitedForInDays) {
  WindowScheduleOptions options;
  options.cpu_budget_ppm = 1;
  options.steady_reserve_ns = kSecondNs;
  WindowSchedule schedule(options, 0);
  schedule.Finished(kSecondNs, 30 * kMillisecondNs, 10'000 * kSecondNs, false);
  EXPECT_EQ(schedule.next_start_ns(), kSecondNs + 86'400 * kSecondNs);
}

TEST(WindowSchedule, AHurryKeepsTheCpuBudget) {
  WindowScheduleOptions options;
  options.cpu_budget_ppm = 42'000;
  options.cpu_burst_ns = 2 * kSecondNs;
  WindowSchedule schedule(options, 0);
  schedule.SetHurried(0, true);
  schedule.SetSteady(0, true);
  EXPECT_LE(Simulate(&schedule, 120, 3).cpu_share, 0.042 + 0.09 / 120 + 0.0001);
}

// Of idle cores no credit is needed, and none is owed.
TEST(WindowSchedule, IdleCoresPayAsLongAsTheyAreIdle) {
  WindowScheduleOptions options;
  options.cpu_budget_ppm = 42'000;
  WindowSchedule schedule(options, 0);
  schedule.SetSteady(0, true);
  schedule.SetIdleCpu(0, 1'000'000);
  const Usage idle = Simulate(&schedule, 30, 3);
  EXPECT_GE(idle.cpu_share, 0.5);
  EXPECT_LE(idle.cpu_share, 1.06);
  schedule.SetIdleCpu(30 * kSecondNs, 0);
  const Usage busy = Simulate(&schedule, 130, 3);
  EXPECT_LE((busy.cpu_share * 130), 2 + 100 * 0.042) << "the share is what it was";
}

TEST(WindowSchedule, CoresThatBecomeIdleAreUsedAtOnce) {
  WindowScheduleOptions options;
  options.cpu_budget_ppm = 42'000;
  WindowSchedule schedule(options, 0);
  schedule.SetSteady(0, true);
  Simulate(&schedule, 20, 3);
  schedule.Spent(kSecondNs);
  schedule.Finished(20 * kSecondNs, 30 * kMillisecondNs, 90 * kMillisecondNs, false);
  ASSERT_GT(schedule.next_start_ns(), 25 * kSecondNs);
  schedule.SetIdleCpu(20 * kSecondNs, 1'000'000);
  EXPECT_LT(schedule.next_start_ns(), 22 * kSecondNs);
}

// Attribution takes as long as decoding does: of two milliseconds that idle cores pay, one buys
// samples.
double ShareWithAttribution(uint32_t idle_ppm, double attribution_per_cpu) {
  WindowScheduleOptions options;
  options.cpu_budget_ppm = 42'000;
  WindowSchedule schedule(options, 0);
  schedule.SetSteady(0, true);
  schedule.SetIdleCpu(0, idle_ppm);
  uint64_t cpu_ns = 0;
  while (schedule.next_start_ns() < 120 * kSecondNs) {
    const uint64_t window_ns = schedule.window_ns();
    const uint64_t now_ns = schedule.next_start_ns() + 3 * window_ns;
    schedule.SpentByCollectors(
        now_ns, static_cast<uint64_t>(attribution_per_cpu * static_cast<double>(2 * window_ns)));
    schedule.Finished(now_ns, window_ns, 2 * window_ns, false);
    cpu_ns += 2 * window_ns;
  }
  return static_cast<double>(cpu_ns) / (120.0 * kSecondNs);
}

TEST(WindowSchedule, IdleCoresPayForAttributionToo) {
  const double alone = ShareWithAttribution(400'000, 0);
  const double shared = ShareWithAttribution(400'000, 1);
  EXPECT_NEAR(alone, 0.33, 0.1) << "dithered";
  const double both = 2 * shared;
  EXPECT_LE(both, 0.4 + 0.042 + 2 * 1.5 / 120) << "what both take together, with their credits";
  EXPECT_GE(both, 0.3);
}

TEST(WindowSchedule, CollectorsTakeNothingOfTheSamplersOwnShare) {
  EXPECT_DOUBLE_EQ(ShareWithAttribution(0, 100), ShareWithAttribution(0, 0));
  EXPECT_GE(ShareWithAttribution(400'000, 1e9), 0.03) << "whatever they say";
}

TEST(WindowSchedule, CollectorsHaveAShareAsLarge) {
  EXPECT_DOUBLE_EQ(ShareWithAttribution(400'000, 0.1), ShareWithAttribution(400'000, 0));
}

TEST(WindowSchedule, ClocksThatGoBackDoNoHarm) {
  WindowSchedule schedule({}, 10 * kSecondNs);
  schedule.Finished(5 * kSecondNs, 30 * kMillisecondNs, 30 * kMillisecondNs, false);
  EXPECT_LT(schedule.next_start_ns(), 20 * kSecondNs);
}

}  // namespace
}  // namespace utlz
