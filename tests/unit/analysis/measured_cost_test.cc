#include "collector/analysis/measured_cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "collector/windows/window_times.h"
#include "proto/ring_abi.h"
#include "tests/support/made_up_loads.h"
#include "tests/support/made_up_windows.h"

namespace utlz {
namespace {

TEST(MeasuredCost, IsTheShareThatWindowsTookLonger) {
  const auto cost = MeasureCost(WindowsOf(16'000, 16'960, 60, 0.01, true));
  ASSERT_TRUE(cost.has_value());
  const double truth = 25 * (0.06 / 1.06) / 1025;
  EXPECT_NEAR(cost->share, truth, 3 * cost->standard_error);
  EXPECT_GT(cost->standard_error, 0);
  EXPECT_LT(cost->standard_error, 0.1 * truth);
  EXPECT_EQ(cost->windows, 58u);
}

TEST(MeasuredCost, OfNothingIsNothingWithinItsError) {
  const auto cost = MeasureCost(WindowsOf(16'000, 16'000, 60, 0.05, true));
  ASSERT_TRUE(cost.has_value());
  EXPECT_NEAR(cost->share, 0, 3 * cost->standard_error);
  EXPECT_LT(cost->standard_error, 0.001);
}

TEST(MeasuredCost, IsNotSaidOfFewWindowsOrUncountedGaps) {
  EXPECT_FALSE(MeasureCost(WindowsOf(16'000, 17'000, 5, 0, true)).has_value());
  EXPECT_FALSE(MeasureCost(WindowsOf(16'000, 17'000, 60, 0, false)).has_value());
  EXPECT_FALSE(MeasureCost(WindowsOf(400e6, 400e6, 60, 0, true)).has_value())
      << "operations are rare";
  EXPECT_FALSE(MeasureCost(WindowTimes()).has_value());
}

TEST(MeasuredCost, TakesFourWindowsAndGapsOfTwentyOperations) {
  EXPECT_TRUE(MeasureCost(WindowsOf(16'000, 17'000, 6, 0, true)).has_value());
  EXPECT_FALSE(MeasureCost(WindowsOf(16'000, 17'000, 5, 0, true)).has_value());
  EXPECT_TRUE(MeasureCost(WindowsOf(100e6, 5e6, 20, 0, true)).has_value()) << "ten on each side";
  EXPECT_FALSE(MeasureCost(WindowsOf(101e6, 5e6, 20, 0, true)).has_value());
}

TEST(MeasuredCost, AnIdleWindowIsLeftOutWithTheGapsBesideIt) {
  const auto without = MeasureCost(WindowsOf(16'000, 17'000, 60, 0, true));
  const auto with = MeasureCost(WindowsOf(16'000, 17'000, 60, 0, true, 30));
  ASSERT_TRUE(without.has_value() && with.has_value());
  EXPECT_EQ(with->windows + 3, without->windows);
  EXPECT_NEAR(with->share, without->share, 1e-4 * without->share);
}

TEST(MeasuredCost, ComparesAWindowWithTheGapsOnBothSides) {
  // Twice as fast in the second half: a window between the halves is compared with both.
  WindowTimes times;
  uint64_t now_ns = 1'000'000'000, operations = 0;
  const auto tell = [&](uint64_t numbered) {
    AgentStatus status;
    status.set_operations_recorded(operations);
    status.set_operations_numbered(numbered);
    times.AddStatus(status);
  };
  uint64_t numbered = 0;
  for (uint64_t i = 0; i < 22; ++i) {
    TraceWindow window;
    window.set_flags(kTraceKernels);
    window.set_start_ns(now_ns);
    times.Add(window);
    // As many as in its share of the gaps before and after it.
    const uint64_t before = i <= 10 ? 100 : 200, after = i < 10 ? 100 : 200;
    const uint64_t in_window = (before + after) / 2 / 10;
    operations += in_window;
    numbered += in_window;
    now_ns += 10 * kMillisecond;
    window.set_end_ns(now_ns);
    times.Add(window);
    tell(numbered);
    numbered += after;
    now_ns += 100 * kMillisecond;
  }
  const auto cost = MeasureCost(times);
  ASSERT_TRUE(cost.has_value());
  EXPECT_NEAR(cost->share, 0, 1e-12);
  EXPECT_NEAR(cost->standard_error, 0, 1e-9);
}

TEST(MeasuredCost, OfARunIsThatOfItsCostliestProcess) {
  RunState state;
  for (const auto& [source, traced_ns] : {std::pair{1u, 16'500.}, {2u, 18'000.}, {3u, 17'000.}}) {
    state.processes.Get(source)->windows = WindowsOf(16'000, traced_ns, 60, 0, true);
  }
  state.processes.Get(4);
  const auto costliest = MeasureCost(WindowsOf(16'000, 18'000, 60, 0, true));
  ASSERT_TRUE(MeasureCost(state).has_value());
  EXPECT_DOUBLE_EQ(MeasureCost(state)->share, costliest->share);
  EXPECT_FALSE(MeasureCost(RunState()).has_value());
}

TEST(MeasuredCost, OfAGpuIsThatOfTheOneProcessThatWorksThere) {
  RunState state;
  ProcessState* first = state.processes.Get(1);
  first->windows = WindowsOf(16'000, 16'500, 60, 0, true);
  state.processes.Get(2)->windows = WindowsOf(16'000, 18'000, 60, 0, true);
  first->strings = {"", "a", "b"};
  first->variants.resize(2);
  first->variants[0].name = 1;
  first->variants[1].name = 2;
  const auto add = [&](uint32_t source, uint32_t variant, uint32_t device) {
    state.kernels[state.kernels.Find(first, variant, device)].ShareOf(source);
  };
  EXPECT_FALSE(MeasureCostOn(state, 0).has_value()) << "no process";
  add(1, 0, 0);
  add(1, 1, 0);
  add(2, 0, 1);
  ASSERT_TRUE(MeasureCostOn(state, 0).has_value());
  EXPECT_DOUBLE_EQ(MeasureCostOn(state, 0)->share, MeasureCost(first->windows)->share);
  EXPECT_GT(MeasureCostOn(state, 1)->share, MeasureCostOn(state, 0)->share);
  add(2, 1, 0);
  EXPECT_FALSE(MeasureCostOn(state, 0).has_value()) << "of which of them a gap is cannot be told";
  add(3, 0, 2);
  EXPECT_FALSE(MeasureCostOn(state, 2).has_value()) << "it told nothing";
}

// For five windows 2.776 standard errors hold 95 %, and 1.960 for very many.
TEST(MeasuredCost, OfFewWindowsIsLessCertain) {
  WindowTimes times;
  uint64_t now_ns = 1'000'000'000, recorded = 0, numbered = 0;
  // The first has no gap before it and the last none after it.
  for (const int more_ms : {0, 1, -1, 1, -1, 0, 0}) {
    TraceWindow window;
    window.set_flags(kTraceKernels);
    window.set_start_ns(now_ns);
    times.Add(window);
    recorded += 10;
    numbered += 10;
    now_ns += static_cast<uint64_t>(10 + more_ms) * kMillisecond;
    window.set_end_ns(now_ns);
    times.Add(window);
    AgentStatus status;
    status.set_operations_recorded(recorded);
    status.set_operations_numbered(numbered);
    times.AddStatus(status);
    numbered += 100;
    now_ns += 100 * kMillisecond;
  }
  const auto cost = MeasureCost(times);
  ASSERT_TRUE(cost.has_value());
  ASSERT_EQ(cost->windows, 5u);
  EXPECT_NEAR(cost->window_share, 0, 1e-12);
  // The excesses, in milliseconds, vary by 1: that of their sum is 5.
  const double expected = std::sqrt(5.) / 50 * 2.776 / 1.960;
  EXPECT_NEAR(cost->window_standard_error, expected, 0.01 * expected);
}

}  // namespace
}  // namespace utlz
