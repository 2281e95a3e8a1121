#include "collector/metrics/device_history.h"

#include <gtest/gtest.h>

#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

// A GPU whose kernels run all the time, at `hfu` of the peak and known by `counted`.
DevicePoint PointAt(uint64_t second, double hfu, double counted = 1) {
  DevicePoint point;
  point.time_ns = point.known_ns = second * kSecondNs;
  const auto time_ns = static_cast<double>(point.time_ns);
  point.work.kernel_ns = time_ns;
  point.work.counted_ns = counted * time_ns;
  point.work.peak_ns = hfu * counted * time_ns;
  return point;
}

TEST(DeviceHistory, HfuOfTheLastSeconds) {
  DeviceHistory history;
  DevicePoint point = PointAt(1, 0.5);
  for (int second = 1; second <= 60; ++second) {
    const double hfu = second <= 40 ? 0.5 : 0.25;
    point.time_ns = point.known_ns = static_cast<uint64_t>(second) * kSecondNs;
    point.work.kernel_ns += kSecondNs;
    point.work.counted_ns += kSecondNs;
    point.work.peak_ns += hfu * kSecondNs;
    history.Add(point);
  }
  EXPECT_NEAR(history.Rates({}).hfu.value(), 0.25, 1e-9);
}

TEST(DeviceHistory, KernelsWithoutCountersWorkAsTheOthers) {
  DeviceHistory history;
  history.Add(PointAt(1, 0.4, 0.8));
  history.Add(PointAt(3, 0.4, 0.8));
  EXPECT_NEAR(history.Rates({}).hfu.value(), 0.4, 1e-9);
}

TEST(DeviceHistory, AbsentWhereMostIsNotCounted) {
  DeviceHistory history;
  history.Add(PointAt(1, 0.4, 0.3));
  history.Add(PointAt(3, 0.4, 0.3));
  const DeviceRates rates = history.Rates({});
  EXPECT_FALSE(rates.hfu.has_value());
  EXPECT_FALSE(rates.compute_speed_of_light.has_value());
  EXPECT_FALSE(rates.memory_speed_of_light.has_value());
  EXPECT_FALSE(rates.sm_active.has_value());
  EXPECT_FALSE(rates.nvml_busy.has_value());
}

TEST(DeviceHistory, ZeroWhereTheGpuRests) {
  DeviceHistory history;
  DevicePoint point = PointAt(1, 0.4);
  history.Add(point);
  point.time_ns += 2 * kSecondNs;
  point.known_ns += 2 * kSecondNs;
  history.Add(point);
  EXPECT_EQ(history.Rates({}).hfu, 0.0);
}

TEST(DeviceHistory, NothingOfAGpuThatNobodyUsesAnyMore) {
  DeviceHistory history;
  DevicePoint point = PointAt(1, 0.4);
  history.Add(point);
  point = PointAt(3, 0.4);
  point.time = {.busy_ns = kSecondNs, .traced_ns = kSecondNs, .known_ns = point.known_ns};
  history.Add(point);
  EXPECT_TRUE(history.Rates({}).hfu.has_value());
  EXPECT_TRUE(history.Rates({}).busy.has_value());
  point.time_ns += kSecondNs;
  point.in_use = false;
  history.Add(point);
  EXPECT_FALSE(history.Rates({}).hfu.has_value());
  EXPECT_FALSE(history.Rates({}).busy.has_value());
}

TEST(DeviceHistory, HfuBeginsWithTheFirstProcess) {
  DeviceHistory history;
  history.Add({.time_ns = kSecondNs});
  EXPECT_FALSE(history.Rates({}).hfu.has_value());
  history.Add({.time_ns = 2 * kSecondNs});
  EXPECT_FALSE(history.Rates({}).hfu.has_value());
  history.Add(PointAt(3, 0.4));
  EXPECT_FALSE(history.Rates({}).hfu.has_value()) << "no time has passed since then";
  history.Add(PointAt(5, 0.4));
  EXPECT_NEAR(history.Rates({}).hfu.value(), 0.4, 1e-9);
}

// Each rank sees all GPUs of its host.
TEST(DeviceHistory, AGpuIsKnownAsFarAsTheRankThatWorksOnIt) {
  RunBuilder run;
  run.StartRun();
  for (const uint32_t source : {1u, 2u}) {
    run.StartProcess(source, RunBuilder::Uuid(source == 1 ? 'A' : 'B'));
    Device other;
    other.set_ordinal(1);
    other.set_uuid(RunBuilder::Uuid(source == 1 ? 'B' : 'A'));
    run.Send(source, FRAME_DEVICE, other);
    run.SendKernels({"_Z4gemmPf"}, source);
    run.SendLaunches({RunBuilder::LaunchAt(source * kSecondNs, 1000, 0)}, source);
  }
  const RunState& state = run.intake().Advance();
  EXPECT_EQ(PointOf(state, 0, {}, {}).known_ns, kRunStartNs + kSecondNs + 1000);
  EXPECT_EQ(PointOf(state, 1, {}, {}).known_ns, kRunStartNs + 2 * kSecondNs + 1000);
}

TEST(DeviceHistory, SharesBySamples) {
  DeviceHistory history;
  history.Add({.time_ns = kSecondNs});
  DevicePoint point;
  point.time_ns = 2 * kSecondNs;
  point.sm_elapsed_cycles = {.sum = 2e9, .time = 1};
  point.sm_active_cycles = {.sum = 1e9, .time = 1};
  point.tensor_cycles = {.sum = 0.25e9, .time = 0.5};
  point.read_bytes = {.sum = 1e12, .time = 1};
  point.write_bytes = {.sum = 0.5e12, .time = 0.5};
  point.gpm_sm_active = {.sum = 0.9, .time = 1};
  history.Add(point);
  Ceilings ceilings;
  ceilings.dram_bytes_per_second = 4e12;
  const DeviceRates rates = history.Rates(ceilings);
  EXPECT_DOUBLE_EQ(rates.sm_active.value(), 0.5) << "samples go before NVML's counters";
  EXPECT_DOUBLE_EQ(rates.compute_speed_of_light.value(), 0.25);
  EXPECT_DOUBLE_EQ(rates.memory_speed_of_light.value(), 0.5);
}

TEST(DeviceHistory, SharesByNvml) {
  DeviceHistory history;
  history.Add({.time_ns = kSecondNs});
  DevicePoint point;
  point.time_ns = 2 * kSecondNs;
  point.gpm_sm_active = {.sum = 0.9, .time = 1};
  point.gpm_dram_active = {.sum = 0.3, .time = 1};
  point.nvml_busy = {.sum = 2, .time = 2};
  history.Add(point);
  const DeviceRates rates = history.Rates({});
  EXPECT_DOUBLE_EQ(rates.sm_active.value(), 0.9);
  EXPECT_DOUBLE_EQ(rates.memory_speed_of_light.value(), 0.3);
  EXPECT_DOUBLE_EQ(rates.nvml_busy.value(), 1);
}

}  // namespace
}  // namespace utlz
