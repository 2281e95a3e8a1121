#include "collector/alarms/take_readings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kAllReduceKernel[] =
    "_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE";

// Two steps of two kernels and an all-reduce, and the first kernel of the next step.
void RunSteps(RunBuilder* run) {
  run->StartRun();
  run->StartProcess();
  run->SendKernels({"_Z4gemmPfPKfS1_i", "_Z3addPfPKfi", kAllReduceKernel});
  std::vector<Launch> launches;
  for (uint64_t i = 0; i < 7; ++i) {
    launches.push_back(RunBuilder::LaunchAt(10 * i * kMillisecondNs, 5 * kMillisecondNs,
                                            static_cast<uint32_t>(i % 3)));
  }
  run->SendLaunches(launches);
}

TEST(TakeReadings, WhatAProcessDidAndWhatComesNext) {
  RunBuilder run;
  RunSteps(&run);
  Process process;
  process.set_pid(7);
  process.set_rank(3);
  process.set_start_time_ns(kRunStartNs);
  run.Send(1, FRAME_PROCESS, process);
  run.SendLaunches({RunBuilder::LaunchAt(10'000 * kMillisecondNs, kMillisecondNs, 1)});
  RunMetrics metrics;
  metrics.Take(run.intake().Advance(), {});
  const Readings readings = TakeReadings(run.intake().Advance(), metrics);
  ASSERT_THAT(readings.devices, SizeIs(1));
  EXPECT_EQ(readings.devices[0].uuid, "GPU-41414141-4141-4141-4141-414141414141");
  EXPECT_FALSE(readings.devices[0].busy.has_value());
  ASSERT_THAT(readings.processes, SizeIs(1));
  const ProcessReading& reading = readings.processes[0];
  EXPECT_EQ(reading.rank, 3u);
  EXPECT_EQ(reading.compute_ns, (5 * 5 + 1) * kMillisecondNs);
  EXPECT_EQ(reading.communication_ns, 2 * 5 * kMillisecondNs);
  EXPECT_EQ(reading.last_work_ns, kRunStartNs + 10'001 * kMillisecondNs);
  EXPECT_EQ(reading.next_collective, "AllReduce") << "it has always followed this kernel";
}

void SendStatus(RunBuilder* run, uint64_t second, uint64_t operations) {
  AgentStatus status;
  status.set_time_ns(kRunStartNs + second * 1000 * kMillisecondNs);
  status.set_operations_numbered(operations);
  run->Send(1, FRAME_AGENT_STATUS, status);
}

uint64_t LastWorkMs(RunBuilder* run) {
  RunMetrics metrics;
  metrics.Take(run->intake().Advance(), {});
  const Readings readings = TakeReadings(run->intake().Advance(), metrics);
  EXPECT_EQ(readings.processes.size(), 1u);
  if (readings.processes.empty()) return 0;
  return (readings.processes[0].last_work_ns - kRunStartNs) / kMillisecondNs;
}

// An agent sends its status once a second, whatever the program does.
TEST(TakeReadings, AStatusIsNoWorkUnlessOperationsPassed) {
  RunBuilder run;
  RunSteps(&run);
  SendStatus(&run, 1, 7);
  for (uint64_t second = 2; second < 100; ++second) SendStatus(&run, second, 7);
  EXPECT_EQ(LastWorkMs(&run), 1000u);
  SendStatus(&run, 100, 8);
  SendStatus(&run, 101, 8);
  EXPECT_EQ(LastWorkMs(&run), 100'000u);
}

TEST(TakeReadings, WhatNobodyLooksAtMayWork) {
  RunBuilder run;
  RunSteps(&run);
  TraceWindow window;
  window.set_start_ns(kRunStartNs);
  window.set_end_ns(kRunStartNs + 1000 * kMillisecondNs);
  window.set_flags(1);
  run.Send(1, FRAME_TRACE_WINDOW, window);
  SendStatus(&run, 20, 0);
  EXPECT_EQ(LastWorkMs(&run), 65u) << "the next window comes soon";
  SendStatus(&run, 60, 0);
  EXPECT_EQ(LastWorkMs(&run), 60'000u);
}

TEST(TakeReadings, ProcessesThatEndedAreNoMore) {
  RunBuilder run;
  RunSteps(&run);
  run.EndProcess();
  RunMetrics metrics;
  metrics.Take(run.intake().Advance(), {});
  EXPECT_THAT(TakeReadings(run.intake().Advance(), metrics).processes, IsEmpty());
}

TEST(TakeReadings, AnAlarmIsInTheSummary) {
  RunBuilder run;
  RunSteps(&run);
  Alarm alarm;
  alarm.set_number(1);
  alarm.set_name("hfu_fell");
  alarm.set_text("HFU fell to 36.0 % from 40.0 %");
  alarm.set_time_ns(kRunStartNs + 20'000 * kMillisecondNs);
  alarm.set_since_ns(kRunStartNs + 5'000 * kMillisecondNs);
  run.Send(0, FRAME_ALARM, alarm);
  alarm.set_end_ns(kRunStartNs + 60'000 * kMillisecondNs);
  run.Send(0, FRAME_ALARM, alarm);
  run.Send(1, FRAME_ALARM, alarm);  // a target may not say so
  const Summary summary = run.EndRun(100'000 * kMillisecondNs);
  ASSERT_EQ(summary.alarms_size(), 1);
  EXPECT_EQ(summary.alarms(0).raised_ns(), 20e9);
  EXPECT_EQ(summary.alarms(0).end_ns(), 60e9);
  ASSERT_EQ(summary.alerts_size(), 1);
  EXPECT_EQ(summary.alerts(0).text(),
            "HFU fell to 36.0 % from 40.0 %, from 5.00 s of the run on until 60.0 s");
}

}  // namespace
}  // namespace utlz
