#include "collector/windows/window_work.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "proto/ring_abi.h"
#include "tests/unit/run_state/traced_program.h"

namespace utlz {
namespace {

TEST(WindowWork, WhatIsTracedThroughoutIsExact) {
  TracedProgram run([](uint64_t) { return 20'000; });
  run.Traced(10 * kSecondNs);
  EXPECT_EQ(run.InGaps().launches, 0);
}

TEST(WindowWork, AStartUpDoesNotDiluteTheWorkAfterIt) {
  TracedProgram run([](uint64_t now_ns) { return now_ns < kBeginNs + 8 * kSecondNs ? 0 : 20'000; });
  run.Traced(14 * kSecondNs);
  for (int i = 0; i < 20; ++i) {
    run.Untraced(1'800 * kMillisecondNs);
    run.Traced(200 * kMillisecondNs);
  }
  EXPECT_NEAR(run.Estimate() / run.Truth(), 1, 0.01);
  EXPECT_NEAR(run.InGaps().time_ns / run.InGaps().launches, 3000, 1);
}

TEST(WindowWork, PhasesAreCountedWhereTheyWere) {
  TracedProgram run([](uint64_t now_ns) {
    const uint64_t second = (now_ns - kBeginNs) / kSecondNs;
    return second < 30 ? 2'000 : second < 60 ? 40'000 : 8'000;
  });
  run.Traced(kSecondNs);
  for (int i = 0; i < 50; ++i) {
    run.Untraced(1'700 * kMillisecondNs);
    run.Traced(100 * kMillisecondNs);
  }
  EXPECT_NEAR(run.Estimate() / run.Truth(), 1, 0.03);
}

TEST(WindowWork, WhatNobodyWantedToSeeIsNotGuessed) {
  TracedProgram run([](uint64_t) { return 10'000; });
  run.Traced(3 * kSecondNs);
  run.Untraced(7 * kSecondNs);
  EXPECT_EQ(run.InGaps().launches, 0);
}

TEST(WindowWork, AGapAtTheEndIsJudgedByTheTailAlone) {
  TracedProgram run([](uint64_t) { return 10'000; });
  run.Traced(3 * kSecondNs);
  run.Untraced(7 * kSecondNs);
  run.Traced(0);
  EXPECT_NEAR(run.Estimate(), 100'000, 500);
}

TEST(WindowWork, AKernelThatEndedBeforeTheTailIsNotThoughtToGoOn) {
  TracedProgram run([](uint64_t now_ns) { return now_ns < kBeginNs + kSecondNs ? 10'000 : 0; });
  run.Traced(5 * kSecondNs);
  run.Untraced(5 * kSecondNs);
  run.Traced(kSecondNs);
  EXPECT_EQ(run.InGaps().launches, 0);
}

TEST(WindowWork, AKernelOfEveryOtherWindowIsCountedHalf) {
  TracedProgram run(
      [](uint64_t now_ns) { return (now_ns - kBeginNs) / (2 * kSecondNs) % 2 == 0 ? 10'000 : 0; });
  for (int i = 0; i < 40; ++i) {
    run.Traced(200 * kMillisecondNs);
    run.Untraced(1'800 * kMillisecondNs);
  }
  EXPECT_NEAR(run.Estimate() / run.Truth(), 1, 0.06);
}

TEST(WindowWork, WindowsThatCannotBeAreIgnored) {
  WindowTimes times;
  TraceWindow window;
  window.set_flags(kTraceKernels);
  window.set_start_ns(5000);
  times.Add(window);
  window.set_start_ns(3000);  // goes back
  times.Add(window);
  EXPECT_EQ(times.PlaceOf(6000).window, 0u);
  EXPECT_EQ(times.PlaceOf(1000).slice, 0u);
  window.set_start_ns(UINT64_MAX);
  window.set_end_ns(7);
  times.Add(window);
  WindowWork work;
  work.Add(times, times.PlaceOf(UINT64_MAX), {1, 1});
  EXPECT_GE(work.InGaps(times, 0).launches, 0);
}

}  // namespace
}  // namespace utlz
