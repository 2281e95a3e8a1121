// What the summary derives from readings and from what the person knows.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

using Build = RunBuilder;

TEST(SummaryTest, SaysWhenNothingRan) {
  RunBuilder run;
  run.StartRun();
  const Summary summary = run.EndRun(kMillisecond);
  EXPECT_EQ(summary.devices_size(), 0);
  EXPECT_FALSE(summary.has_waterfall());
  EXPECT_EQ(summary.verdict(), "No work of a GPU was recorded.");
}

TEST(SummaryTest, ComputesMfuAndCostFromWhatThePersonKnows) {
  SummaryOptions options;
  options.work.set_flops_per_step(1e9);
  options.work.set_tokens_per_step(2048);
  options.work.set_price_per_hour(3.6);
  RunBuilder run(options);
  run.StartRun();
  run.StartProcess();
  DevicePeaks peaks;
  peaks.set_device_uuid(Build::Uuid());
  peaks.set_sm_clock_hz(1e9);
  peaks.set_sm_clock_maximum_hz(2e9);
  DevicePeaks::Pipe* pipe = peaks.add_pipe();
  pipe->set_data_type("bf16");
  pipe->set_flops_per_cycle(10'000);
  run.Send(0, FRAME_DEVICE_PEAKS, peaks);
  SendLoop(&run, 50, 99 * kMicrosecond, kMicrosecond);  // a step is 1 ms
  const Summary summary = run.EndRun(50 * kMillisecond);
  // 1e9 FLOPs in 1 ms = 1e12 FLOP/s, of 1e13 at the clock that was seen.
  EXPECT_NEAR(summary.efficiency().mfu(), 0.1, 1e-9);
  EXPECT_NEAR(summary.efficiency().mfu_maximum_clock(), 0.05, 1e-9);
  EXPECT_NEAR(summary.efficiency().tokens_per_second(), 2'048'000, 1e-3);
  EXPECT_NEAR(summary.efficiency().cost_per_step(), 1e-6, 1e-15);
  EXPECT_FALSE(summary.efficiency().has_hfu()) << "no counters";
  EXPECT_FALSE(summary.efficiency().has_joules_per_step()) << "no energy readings";
}

// A loop of no steps, and 40 readings of NVML in which memory grows by 1 GB from one to the next.
Summary WithNvmlTotals(uint64_t interval_ns, double growth_bytes = 1e9) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  DevicePeaks peaks;
  peaks.set_device_uuid(Build::Uuid());
  peaks.set_memory_bytes(100'000'000'000);
  run.Send(0, FRAME_DEVICE_PEAKS, peaks);
  SendLoop(&run, 2, 99 * kMicrosecond, kMicrosecond);
  DeviceTotalsBatch totals;
  totals.set_device_uuid(Build::Uuid());
  for (uint64_t i = 0; i < 40; ++i) {
    totals.add_time_ns(kRunStartNs + i * interval_ns);
    totals.add_power_milliwatts(300'000);
    totals.add_energy_millijoules(static_cast<double>(i) * 30'000);
    totals.add_gpm_sm_active_percent(i == 7 ? NAN : 50);
    totals.add_memory_used_bytes(1e10 / 3 + static_cast<double>(i) * growth_bytes);
    totals.add_clock_limit_reasons(1u << 6);
  }
  run.Send(0, FRAME_DEVICE_TOTALS, totals);
  return run.EndRun(40 * interval_ns);
}

TEST(SummaryTest, ReadsNvmlTotals) {
  const Summary summary = WithNvmlTotals(100 * kMillisecond);
  const DeviceSummary& device = summary.devices(0);
  EXPECT_NEAR(device.power_watts(), 300, 1e-9);
  EXPECT_NEAR(device.energy_joules(), 39 * 30, 1e-9);
  EXPECT_NEAR(device.sm_active_share(), 0.5, 1e-9);
  EXPECT_EQ(device.source(), SOURCE_GPM);
  ASSERT_EQ(device.clock_limits_size(), 1);
  EXPECT_EQ(device.clock_limits(0), "hardware thermal slowdown");
  EXPECT_NEAR(summary.memory().used_bytes_max(), 1e10 / 3 + 3.9e10, 1);
  EXPECT_NEAR(summary.memory().headroom_bytes(), 6.1e10 - 1e10 / 3, 1);
  EXPECT_NEAR(summary.memory().growth_bytes_per_second(), 1e10, 1e8);
}

TEST(SummaryTest, MemoryThatStaysTheSameGrowsByNothing) {
  EXPECT_EQ(WithNvmlTotals(100 * kMillisecond, 0).memory().growth_bytes_per_second(), 0);
}

TEST(SummaryTest, WithoutStepsOnlyLongGrowthIsALeak) {
  EXPECT_FALSE(WithNvmlTotals(100 * kMillisecond).memory().leak_suspected()) << "4 s: a start";
  EXPECT_TRUE(WithNvmlTotals(4000 * kMillisecond).memory().leak_suspected())
      << "80 s after the start";
}

}  // namespace
}  // namespace utlz
