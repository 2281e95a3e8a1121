#include "collector/metrics/run_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

void StartRun(RunBuilder* run) {
  run->StartRun();
  run->StartProcess();
  run->SendKernels({"_Z4gemmPfPKfS1_i", "_Z3addPfPKfi"});
  std::vector<Launch> launches;
  for (uint64_t i = 0; i < 100; ++i) {
    launches.push_back(RunBuilder::LaunchAt(10 * i * kMillisecondNs, kMillisecondNs,
                                            static_cast<uint32_t>(i % 2)));
  }
  run->SendLaunches(launches);
}

TEST(RunMetrics, UnknownIsAbsent) {
  RunBuilder run;
  StartRun(&run);
  RunMetrics metrics;
  const MetricsSnapshot snapshot = metrics.Take(run.intake().Advance(), {});
  for (const Metric metric : {Metric::kFlops,
                              Metric::kFlopsPeakSeconds,
                              Metric::kDramReadBytes,
                              Metric::kDramWriteBytes,
                              Metric::kEstimatedSavingsSeconds,
                              Metric::kEnergyJoules,
                              Metric::kHfu,
                              Metric::kComputeSpeedOfLight,
                              Metric::kMemorySpeedOfLight,
                              Metric::kSmActive,
                              Metric::kNvmlBusy,
                              Metric::kTokens,
                              Metric::kItems,
                              Metric::kModelFlops,
                              Metric::kMfu,
                              Metric::kCounterSamples,
                              Metric::kTemperature,
                              Metric::kMemoryUsed,
                              Metric::kMemorySize,
                              Metric::kClockLimited}) {
    EXPECT_THAT(snapshot.Of(metric), IsEmpty()) << DescriptionOf(metric).name;
  }
  EXPECT_THAT(snapshot.Of(Metric::kKernelSeconds), SizeIs(2));
  EXPECT_THAT(snapshot.Of(Metric::kLiveProcesses), SizeIs(1));
}

TEST(RunMetrics, WhatNvmlReadLast) {
  RunBuilder run;
  StartRun(&run);
  Device device;
  device.set_uuid(RunBuilder::Uuid());
  device.set_memory_bytes(1000);
  run.Send(1, FRAME_DEVICE, device);
  DeviceTotalsBatch totals;
  totals.set_device_uuid(RunBuilder::Uuid());
  constexpr uint64_t kThermalSlowdown = 1 << 5;
  for (uint64_t second = 1; second <= 3; ++second) {
    totals.add_time_ns(kRunStartNs + second * 1000 * kMillisecondNs);
    totals.add_temperature_celsius(second == 3 ? 70 : 90);
    totals.add_memory_used_bytes(second == 3 ? 400 : 900);
    totals.add_clock_limit_reasons(second == 3 ? 0 : kThermalSlowdown);
  }
  run.Send(0, FRAME_DEVICE_TOTALS, totals);
  RunMetrics metrics;
  const MetricsSnapshot snapshot = metrics.Take(run.intake().Advance(), {});
  ASSERT_THAT(snapshot.Of(Metric::kTemperature), SizeIs(1));
  EXPECT_EQ(snapshot.Of(Metric::kTemperature)[0].value, 70);
  ASSERT_THAT(snapshot.Of(Metric::kMemoryUsed), SizeIs(1));
  EXPECT_EQ(snapshot.Of(Metric::kMemoryUsed)[0].value, 400);
  ASSERT_THAT(snapshot.Of(Metric::kMemorySize), SizeIs(1));
  EXPECT_EQ(snapshot.Of(Metric::kMemorySize)[0].value, 1000);
  ASSERT_THAT(snapshot.Of(Metric::kClockLimited), SizeIs(1));
  EXPECT_EQ(snapshot.Of(Metric::kClockLimited)[0].value, 1) << "from the first reading on";
  EXPECT_EQ(snapshot.Of(Metric::kClockLimited)[0].labels.back().second, "thermal slowdown");
}

TEST(RunMetrics, BeforeAnythingCame) {
  RunIntake intake;
  RunMetrics metrics;
  const MetricsSnapshot snapshot = metrics.Take(intake.Advance(), {});
  EXPECT_THAT(snapshot.Of(Metric::kKernelSeconds), IsEmpty());
  EXPECT_THAT(snapshot.Of(Metric::kSnapshotTimestamp), SizeIs(1));
}

TEST(RunMetrics, LabelsOfDeviceAndProcess) {
  RunBuilder run;
  StartRun(&run);
  Process process;
  process.set_pid(7);
  process.set_host_pid(4711);
  process.set_rank(3);
  process.set_executable("/opt/py\x1b[2Jthon");
  run.Send(1, FRAME_PROCESS, process);
  Device device;
  device.set_uuid(RunBuilder::Uuid());
  device.set_name("NVIDIA \"H200\"");
  device.set_pci_bus("0000:3b:00.0");
  run.Send(1, FRAME_DEVICE, device);
  uint64_t asked_pid = 0;
  RunMetrics metrics({.process =
                          [&](uint64_t pid) {
                            asked_pid = pid;
                            return ProcessPlace{.pod = "trainer-0", .job = "815"};
                          },
                      .device =
                          [](const std::string& bus) {
                            return DevicePlace{.index = bus == "0000:3b:00.0" ? "2" : "?",
                                               .file = "nvidia2"};
                          }});
  const MetricsSnapshot snapshot = metrics.Take(run.intake().Advance(), {});
  const MetricSample& sample = snapshot.Of(Metric::kKernelSeconds).at(0);
  EXPECT_EQ(asked_pid, 4711u);
  EXPECT_EQ(LabelOf(sample, "gpu"), "2");
  EXPECT_EQ(LabelOf(sample, "UUID"), "GPU-41414141-4141-4141-4141-414141414141");
  EXPECT_EQ(LabelOf(sample, "device"), "nvidia2");
  EXPECT_EQ(LabelOf(sample, "pid"), "4711");
  EXPECT_EQ(LabelOf(sample, "process"), "py?[2Jthon");
  EXPECT_EQ(LabelOf(sample, "rank"), "3");
  EXPECT_EQ(LabelOf(sample, "pod"), "trainer-0");
  EXPECT_EQ(LabelOf(sample, "hpc_job"), "815");
  EXPECT_EQ(LabelOf(sample, "family"), "gemm");
}

// As an exec leaves it: the program before it has ended under the same identifier and name.
TEST(RunMetrics, NoSeriesHasTwoSamples) {
  RunBuilder run;
  StartRun(&run);
  run.EndProcess();
  run.StartProcess(2);
  Process process;
  process.set_pid(1001);
  process.add_arguments("python");
  run.Send(2, FRAME_PROCESS, process);
  run.SendKernels({"_Z4gemmPfPKfS1_i"}, 2);
  run.SendLaunches({RunBuilder::LaunchAt(2'000 * kMillisecondNs, kMillisecondNs)}, 2);
  RunMetrics metrics;
  const MetricsSnapshot snapshot = metrics.Take(run.intake().Advance(), {});
  ASSERT_THAT(snapshot.Of(Metric::kOperations), SizeIs(1));
  ASSERT_THAT(snapshot.Of(Metric::kKernelLaunches), SizeIs(1));
  EXPECT_EQ(snapshot.Of(Metric::kKernelLaunches)[0].value, 1) << "a new program counts from zero";
}

TEST(RunMetrics, AGpusTimeSumsToTheTime) {
  RunBuilder run;
  StartRun(&run);
  run.EndProcess();
  run.EndRun(2'000 * kMillisecondNs);
  RunMetrics metrics;
  double seconds = 0;
  const MetricsSnapshot snapshot = metrics.Take(run.intake().Advance(), {});
  for (const MetricSample& sample : snapshot.Of(Metric::kGpuTimeSeconds)) seconds += sample.value;
  EXPECT_NEAR(seconds, 0.991, 0.002) << "from the first activity to the last";
}

}  // namespace
}  // namespace utlz
