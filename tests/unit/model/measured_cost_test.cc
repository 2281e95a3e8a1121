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

// A program whose operations take `untraced_ns` each, and `traced_ns` in windows of 25 ms.
WindowTimes WindowsOf(double untraced_ns, double traced_ns, int windows, double noise,
                      bool counted) {
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
    const uint64_t operations = pass(25 * kMillisecondNs, traced_ns);
    recorded += operations;
    numbered += operations;
    newest_recorded = numbered;
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

}  // namespace
}  // namespace utlz
