#include "collector/counters/pool_memory.h"

#include <gtest/gtest.h>

#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

PoolMemory PoolReading(uint64_t second, uint64_t used, uint64_t reserved, uint64_t high = 0) {
  PoolMemory memory;
  memory.set_time_ns(kRunStartNs + second * kSecondNs);
  memory.set_used_bytes(used);
  memory.set_reserved_bytes(reserved);
  memory.set_used_high_bytes(std::max(used, high));
  return memory;
}

TEST(PoolMemoryTest, SaysNothingWhereNothingUsedIt) {
  EXPECT_FALSE(PoolMemoryTotals().used_max().has_value());
}

TEST(PoolMemoryTest, ProcessesAddUpWhileTheyLive) {
  PoolMemoryTotals totals;
  totals.Add(1, PoolReading(0, 100, 200));
  totals.Add(2, PoolReading(1, 50, 60));
  EXPECT_EQ(totals.used_max(), 150);
  EXPECT_EQ(totals.reserved_max(), 260);
  totals.End(1);
  totals.End(7);  // never heard of
  totals.Add(3, PoolReading(2, 70, 80));
  EXPECT_EQ(totals.used_max(), 150) << "120 now";
  totals.Add(2, PoolReading(3, 90, 90));
  EXPECT_EQ(totals.used_max(), 160);
}

TEST(PoolMemoryTest, WhatWasInUseBetweenReadingsCountsButNotWhatWasBeforeTheFirst) {
  PoolMemoryTotals totals;
  totals.Add(1, PoolReading(0, 100, 1000, 900));
  totals.Add(1, PoolReading(1, 100, 1000, 900));
  EXPECT_EQ(totals.used_max(), 100) << "the 900 may be of long before an attachment";
  totals.Add(1, PoolReading(2, 100, 2000, 1500));
  EXPECT_EQ(totals.used_max(), 1500);
}

TEST(PoolMemoryTest, FiguresThatCannotBeAreNotTaken) {
  PoolMemoryTotals totals;
  totals.Add(1, PoolReading(0, UINT64_MAX, 5));
  EXPECT_FALSE(totals.used_max().has_value());
  totals.Add(1, PoolReading(5, 10, 20));
  totals.Add(1, PoolReading(3, 20, 20));  // back in time
  EXPECT_EQ(totals.used_max(), 20);
}

TEST(PoolMemoryTest, ReportsTellIt) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  DevicePeaks peaks;
  peaks.set_device_uuid(RunBuilder::Uuid());
  peaks.set_memory_bytes(80'000'000'000);
  run.Send(0, FRAME_DEVICE_PEAKS, peaks);
  run.SendKernels({"a"});
  run.SendLaunches({RunBuilder::LaunchAt(0, 1000)});
  DeviceTotalsBatch totals;
  totals.set_device_uuid(RunBuilder::Uuid());
  for (uint64_t second = 0; second < 40; ++second) {
    totals.add_time_ns(kRunStartNs + second * kSecondNs);
    totals.add_memory_used_bytes(20e9);
    run.Send(1, FRAME_POOL_MEMORY,
             PoolReading(second, 1'000'000'000 + second * 1'000'000, 9'000'000'000));
  }
  run.Send(0, FRAME_DEVICE_TOTALS, totals);
  const Summary summary = run.EndRun(40 * kSecondNs);
  EXPECT_EQ(summary.memory().used_bytes_max(), 20e9);
  EXPECT_EQ(summary.memory().pool_used_bytes_max(), 1'039'000'000);
  EXPECT_EQ(summary.memory().pool_reserved_bytes_max(), 9e9);
  EXPECT_NEAR(summary.memory().pool_used_growth_bytes_per_second(), 1e6, 1e4);
}

}  // namespace
}  // namespace utlz
