#include "collector/model/measured_cost.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>

#include "collector/model/window_times.h"
#include "proto/ring_abi.h"

namespace utlz {
namespace {

constexpr uint64_t kMillisecondNs = 1'000'000;

// A program whose operations take `untraced_ns` each, and `traced_ns` in windows of 25 ms. In the
// window `idle` nothing runs.
WindowTimes WindowsOf(double untraced_ns, double traced_ns, int windows, double noise, bool counted,
                      int idle = -1) {
  std::mt19937 random(5);
  std::normal_distribution<double> spread(1, noise);
  WindowTimes times;
  uint64_t now_ns = 1'000'000'000, recorded = 0, numbered = 0, newest_recorded = 0;
  const auto pass = [&](uint64_t duration_ns, double operation_ns) {
    now_ns += duration_ns;
    return static_cast<uint64_t>(static_cast<double>(duration_ns) /
                                 (operation_ns * spread(random)));
  };
  const auto tell = [&] {
    AgentStatus status;
    status.set_operations_recorded(recorded);
    status.set_operations_numbered(newest_recorded);
    if (counted) times.Tell(status);
  };
  for (int i = 0; i < windows; ++i) {
    tell();
    TraceWindow window;
    window.set_flags(kTraceKernels);
    window.set_start_ns(now_ns);
    times.Add(window);
    const uint64_t operations = pass(25 * kMillisecondNs, i == idle ? 1e12 : traced_ns);
    recorded += operations;
    numbered += operations;
    if (operations > 0) newest_recorded = numbered;
    window.set_end_ns(now_ns);
    times.Add(window);
    tell();
    numbered += pass(1000 * kMillisecondNs, untraced_ns);
  }
  return times;
}

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
    times.Tell(status);
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
    now_ns += 10 * kMillisecondNs;
    window.set_end_ns(now_ns);
    times.Add(window);
    tell(numbered);
    numbered += after;
    now_ns += 100 * kMillisecondNs;
  }
  const auto cost = MeasureCost(times);
  ASSERT_TRUE(cost.has_value());
  EXPECT_NEAR(cost->share, 0, 1e-12);
  EXPECT_NEAR(cost->standard_error, 0, 1e-9);
}

TEST(MeasuredCost, OfARunIsThatOfItsCostliestProcess) {
  ModelState model;
  for (const auto& [source, traced_ns] : {std::pair{1u, 16'500.}, {2u, 18'000.}, {3u, 17'000.}}) {
    model.processes.Get(source)->windows = WindowsOf(16'000, traced_ns, 60, 0, true);
  }
  model.processes.Get(4);
  const auto costliest = MeasureCost(WindowsOf(16'000, 18'000, 60, 0, true));
  ASSERT_TRUE(MeasureCost(model).has_value());
  EXPECT_DOUBLE_EQ(MeasureCost(model)->share, costliest->share);
  EXPECT_FALSE(MeasureCost(ModelState()).has_value());
}

}  // namespace
}  // namespace utlz
