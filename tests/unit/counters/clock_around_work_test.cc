#include "collector/counters/clock_around_work.h"

#include <gtest/gtest.h>

#include <vector>

namespace utlz {
namespace {

struct Reading {
  uint32_t clock_mhz;
  float active_percent;
};

// Readings every 0.2 s, each as often in a row as said.
ClockAroundWork Of(const std::vector<Reading>& readings, int times = 1, bool with_gpm = true) {
  DeviceTotalsBatch batch;
  uint64_t at_ns = 1'000'000'000;
  const auto add = [&](const Reading& reading) {
    batch.add_time_ns(at_ns += 200'000'000);
    batch.add_sm_clock_mhz(reading.clock_mhz);
    if (with_gpm) batch.add_gpm_sm_active_percent(reading.active_percent);
    batch.add_gpu_busy_percent(reading.active_percent > 0 ? 100 : 0);
  };
  add(readings[0]);  // stands for no time
  for (const Reading& reading : readings) {
    for (int i = 0; i < times; ++i) add(reading);
  }
  DeviceTotals totals;
  EXPECT_TRUE(totals.Add(batch));
  return FindClockAroundWork(totals);
}

TEST(ClockAroundWorkTest, IsTheLastBeforeTheFirstWorkAndTheFirstAfterTheLast) {
  const std::vector<Reading> readings = {{345, 0},   {1980, 0}, {1800, 40}, {1500, 0},
                                         {1790, 30}, {1900, 0}, {600, 0}};
  for (const bool with_gpm : {true, false}) {
    for (const int times : {1, 1000}) {
      const ClockAroundWork around = Of(readings, times, with_gpm);
      ASSERT_TRUE(around.before_hz.has_value() && around.after_hz.has_value());
      EXPECT_NEAR(*around.before_hz, 1.98e9, 1) << times;
      EXPECT_NEAR(*around.after_hz, 1.9e9, 1) << times;
    }
  }
}

TEST(ClockAroundWorkTest, IsNotKnownOfADeviceThatWorkedAllTheTimeOrNever) {
  const ClockAroundWork working = Of({{1800, 40}, {1700, 50}});
  EXPECT_FALSE(working.before_hz.has_value());
  EXPECT_FALSE(working.after_hz.has_value());
  const ClockAroundWork resting = Of({{345, 0}, {345, 0}});
  EXPECT_FALSE(resting.before_hz.has_value());
  EXPECT_FALSE(resting.after_hz.has_value());
  EXPECT_FALSE(Of({{345, 0}, {1800, 40}}).after_hz.has_value());
  EXPECT_FALSE(FindClockAroundWork(DeviceTotals()).before_hz.has_value());
}

}  // namespace
}  // namespace utlz
