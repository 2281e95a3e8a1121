// What shares and findings are of: the steps, and the time in which they were traced.
#include "collector/analysis/steady_part.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/waterfall_slices.h"
#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

using Build = RunBuilder;

// What a job of PyTorch does before its loop, ten times as long as the loop, and then 40 steps.
void SendStartUpAndSteps(RunBuilder* run, uint64_t step_pause_ns = 0) {
  run->SendKernels(KernelNames(5));
  uint64_t now = 0;
  for (int i = 0; i < 20; ++i) {
    run->SendCopy(COPY_HOST_TO_DEVICE, now, kMillisecond, 1 << 20, true);
    now += 100 * kMillisecond;
  }
  for (int step = 0; step < 40; ++step) {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < 5; ++i) {
      launches.push_back(Build::LaunchAt(now, kMillisecond, i));
      now += kMillisecond + kMicrosecond;
    }
    run->SendLaunches(launches);
    if (step == 20) now += step_pause_ns;
  }
}

TEST(SteadyPartTest, StartUpIsNoIdleTimeOfTheSteps) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  SendStartUpAndSteps(&run);
  const Summary summary = run.EndRun(3000 * kMillisecond);
  EXPECT_EQ(summary.findings_size(), 0) << summary.findings(0).evidence();
  EXPECT_EQ(summary.steady_state().scope(), "steps");
  EXPECT_NEAR(summary.steady_state().start_ns(), 2000.0 * kMillisecond, 1);
  EXPECT_GT(summary.devices(0).gpu_busy_share(), 0.99);
  EXPECT_LT(summary.devices(0).run_gpu_busy_share(), 0.2);
  EXPECT_NEAR(SliceShare(summary, kSliceStartUp), 2.0 / 3, 1e-6);
  EXPECT_GT(SliceShare(summary, kSliceEnd), 0.2);
  EXPECT_EQ(SliceShare(summary, kSliceIdleInput), 0);
  EXPECT_EQ(SliceShare(summary, kSliceCopies), 0);
  ExpectSlicesSumToTheWhole(summary);
}

// Setting ranges up holds a program up before the first of them, and giving them back after the
// last: less than ten steps, and no pause of the program's own.
TEST(SteadyPartTest, WhatOurOwnRangesHoldUpIsNoHostWork) {
  const auto run_with = [](bool ranges) {
    RunBuilder run;
    run.StartRun();
    run.StartProcess();
    SendStartUpAndSteps(&run, 45 * kMillisecond);
    const uint64_t gap_end =
        2000 * kMillisecond + 21 * (5 * kMillisecond + 5 * kMicrosecond) + 45 * kMillisecond;
    if (ranges) {
      RangeBatch batch;
      RangeBatch::Range* range = batch.add_ranges();
      range->set_start_ns(kRunStartNs + gap_end + 2 * kMillisecond);
      range->set_end_ns(kRunStartNs + gap_end + 6 * kMillisecond);
      range->set_context(1);
      batch.set_setup_ns(50 * kMillisecond);
      run.Send(1, FRAME_RANGES, batch);
    }
    return run.EndRun(4000 * kMillisecond);
  };
  const Summary blamed = run_with(false);
  ASSERT_NE(Finding(blamed, "host_work"), nullptr);
  EXPECT_EQ(blamed.steps().slow_size(), 1);
  EXPECT_FALSE(blamed.capture().has_calibration_stall_ns());

  const Summary summary = run_with(true);
  EXPECT_EQ(Finding(summary, "host_work"), nullptr);
  EXPECT_EQ(summary.steps().slow_size(), 0);
  EXPECT_NEAR(summary.steps().time_mean_ns(), 5.0 * kMillisecond, 0.02 * kMillisecond);
  EXPECT_NEAR(summary.capture().calibration_stall_ns(), 45.0 * kMillisecond, 0.01 * kMillisecond);
  EXPECT_GT(summary.devices(0).gpu_busy_share(), 0.99);
  ExpectSlicesSumToTheWhole(summary);
}

TEST(SteadyPartTest, PausesBetweenStepsAreSlicesOfTheirOwn) {
  RunBuilder paused;
  paused.StartRun();
  paused.StartProcess();
  SendStartUpAndSteps(&paused, 900 * kMillisecond);
  const Summary summary = paused.EndRun(4000 * kMillisecond);
  EXPECT_EQ(Finding(summary, "host_work"), nullptr);
  EXPECT_EQ(summary.steady_state().pauses(), 1u);
  EXPECT_NEAR(SliceShare(summary, kSlicePauses), 0.9 / 4, 1e-3);
  EXPECT_GT(summary.devices(0).gpu_busy_share(), 0.99);
  ExpectSlicesSumToTheWhole(summary);
  // The mean step is that of the window, which its slices sum to; what paused was not the step.
  const StepsSummary& steps = summary.steps();
  EXPECT_NEAR(steps.time_mean_ns(), 5.005 * kMillisecond, 0.01 * kMillisecond);
  EXPECT_NEAR(steps.pause_time_ns(), 900.0 / 39 * kMillisecond, 0.01 * kMillisecond);
  EXPECT_NEAR(steps.kernel_time_ns() + steps.copy_time_ns() + steps.idle_time_ns(),
              steps.time_mean_ns(), 1);
  EXPECT_NEAR(summary.efficiency().steps_per_second(), 1e9 / steps.time_mean_ns(), 1e-6);
  EXPECT_EQ(steps.slow_size(), 0);

  RunBuilder short_one;  // nine steps long: a slow step, if a rare one
  short_one.StartRun();
  short_one.StartProcess();
  SendStartUpAndSteps(&short_one, 45 * kMillisecond);
  const Summary stalled = short_one.EndRun(4000 * kMillisecond);
  EXPECT_EQ(stalled.steady_state().pauses(), 0u);
  EXPECT_EQ(stalled.steps().slow_size(), 1);
}

TEST(SteadyPartTest, ALoopThatDoesLittleIsNotWhatTheRunIsAbout) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  SendLoop(&run, 20, 10 * kMicrosecond, kMicrosecond);
  run.SendLaunches({Build::LaunchAt(10 * kMillisecond, 500 * kMillisecond, 3)});
  const Summary summary = run.EndRun(1000 * kMillisecond);
  EXPECT_TRUE(summary.has_steps());
  EXPECT_EQ(summary.steady_state().scope(), "run");
  EXPECT_GT(SliceShare(summary, kSliceOutside), 0.4);
  ExpectSlicesSumToTheWhole(summary);
}

constexpr uint64_t kBeginNs = 1000 * kMillisecond;
constexpr ActivityMask kKernelRuns = MaskOf(ActivityKind::kCompute);
constexpr ActivityMask kUploadRuns = MaskOf(ActivityKind::kHostToDevice);

// What ran from one moment after kBeginNs to another one, in milliseconds.
ActivitySegment Segment(uint64_t start_ms, uint64_t end_ms, ActivityMask mask,
                        ActivityMask next = kKernelRuns) {
  return {.start_ns = kBeginNs + start_ms * kMillisecond,
          .end_ns = kBeginNs + end_ms * kMillisecond,
          .mask = mask,
          .next = mask == 0 ? next : ActivityMask{0}};
}

StepsSpan Steps(uint64_t start_ms, uint64_t end_ms, uint64_t usual_ms) {
  return {.start_ns = kBeginNs + start_ms * kMillisecond,
          .end_ns = kBeginNs + end_ms * kMillisecond,
          .usual_step_ns = static_cast<double>(usual_ms * kMillisecond),
          .device = 0};
}

// Gaps of 200 ms: before the steps, a plain one, one that waits for input, and one after the steps.
DeviceState WithGaps() {
  DeviceState device;
  for (const ActivitySegment& segment :
       {Segment(0, 100, kKernelRuns), Segment(100, 300, 0), Segment(300, 400, kKernelRuns),
        Segment(400, 600, 0), Segment(600, 700, kKernelRuns), Segment(700, 900, 0, kUploadRuns),
        Segment(900, 1000, kKernelRuns), Segment(1000, 1200, 0),
        Segment(1200, 1300, kKernelRuns)}) {
    device.ledger.Add(segment);
  }
  return device;
}

TEST(SteadyPartTest, APauseIsTenStepsLongBetweenStepsAndNotForInput) {
  const DeviceState device = WithGaps();
  const DevicePart part = SteadyPart{Steps(200, 1100, 20)}.Of(device, 0);
  EXPECT_EQ(part.pauses, 1);
  EXPECT_NEAR(part.pause_ns, 200e6, 1);
  EXPECT_NEAR(part.content.TimeNs(TimeCategory::kOtherGap), 200e6, 1)
      << "halves of the gaps at both ends are no pauses";
  EXPECT_NEAR(part.content.Gaps(TimeCategory::kOtherGap), 1, 1e-6);
  EXPECT_NEAR(part.content.TimeNs(TimeCategory::kUploadGap), 200e6, 1);
  EXPECT_NEAR(part.TimeNs(), 700e6, 1);
  EXPECT_NEAR(part.kernel_share, 3.0 / 5, 1e-9);
  EXPECT_EQ((SteadyPart{Steps(200, 1100, 21)}.Of(device, 0).pauses), 0) << "a slow step";
  EXPECT_EQ((SteadyPart{}.Of(device, 0).pauses), 0);
  EXPECT_NEAR(SteadyPart{}.Of(device, 0).TimeNs(), 1300e6, 1);
}

TEST(SteadyPartTest, UntracedTimeIsNoPartOfTheWhole) {
  DeviceState device;
  for (const ActivitySegment& segment :
       {Segment(0, 10, kUntracedMask), Segment(10, 50, kKernelRuns), Segment(50, 70, kUntracedMask),
        Segment(70, 90, kKernelRuns), Segment(90, 130, kUntracedMask)}) {
    device.ledger.Add(segment);
  }
  const DevicePart part = SteadyPart{Steps(20, 80, 1)}.Of(device, 0);
  EXPECT_NEAR(part.TimeNs(), 40e6, 1);
  EXPECT_NEAR(part.content.UntracedNs(), 20e6, 1);
  EXPECT_NEAR(part.untraced_before_ns, 10e6, 1);
  EXPECT_NEAR(part.untraced_after_ns, 40e6, 1);
}

TEST(SteadyPartTest, RecordsThatCameLateTakeIdleTimeOff) {
  const auto kernel = [](uint64_t start_ms, uint64_t end_ms) {
    return Activity{.start_ns = kBeginNs + start_ms * kMillisecond,
                    .end_ns = kBeginNs + end_ms * kMillisecond,
                    .kernel = 0,
                    .stream = 0,
                    .context = 0,
                    .source = 1,
                    .kind = ActivityKind::kCompute};
  };
  DeviceState device;
  device.sweep.SetObserver([&](const ActivitySegment& segment) { device.ledger.Add(segment); });
  for (const auto& [start_ms, end_ms] : {std::pair(0, 1), std::pair(9, 10), std::pair(2, 8)}) {
    device.sweep.Add(kernel(static_cast<uint64_t>(start_ms), static_cast<uint64_t>(end_ms)));
  }
  device.sweep.AdvanceTo(kBeginNs + 10 * kMillisecond);
  for (const SteadyPart& steady : {SteadyPart{}, SteadyPart{Steps(0, 10, 5)}}) {
    const DevicePart part = steady.Of(device, 0);
    EXPECT_NEAR(part.content.IdleNs(), 2e6, 1);
    EXPECT_NEAR(part.content.KernelNs(), 8e6, 1);
    EXPECT_NEAR(part.TimeNs(), 10e6, 1);
  }
}

TEST(SteadyPartTest, APauseMayEndWithAReadbackAndReachTheEdgesOfTheSteps) {
  DeviceState device;
  const ActivityMask readback = MaskOf(ActivityKind::kDeviceToHost);
  for (const ActivitySegment& segment :
       {Segment(0, 100, kKernelRuns), Segment(100, 110, readback), Segment(110, 310, 0),
        Segment(310, 400, kKernelRuns), Segment(400, 600, 0), Segment(600, 700, kKernelRuns)}) {
    device.ledger.Add(segment);
  }
  const DevicePart part = SteadyPart{Steps(110, 600, 20)}.Of(device, 0);
  EXPECT_EQ(part.pauses, 2);
  EXPECT_NEAR(part.pause_ns, 400e6, 1);
  EXPECT_NEAR(part.content.Gaps(TimeCategory::kReadbackGap), 0, 1e-6);
  EXPECT_NEAR(part.content.Gaps(TimeCategory::kOtherGap), 0, 1e-6);
  EXPECT_NEAR(part.TimeNs(), 90e6, 1);
}

TEST(SteadyPartTest, WithoutKernelTimeThereAreNoSteps) {
  RunState state;
  state.devices.Find(RunBuilder::Uuid());
  EXPECT_FALSE(FindSteadyPart(state, Steps(0, 10, 1)).steps.has_value());
}

TEST(SteadyPartTest, StepsCountWithHalfOfTheKernelTime) {
  RunState state;
  const uint32_t index = state.devices.Find(RunBuilder::Uuid()).value();
  for (const ActivitySegment& segment :
       {Segment(0, 10, kKernelRuns), Segment(10, 20, 0), Segment(20, 30, kKernelRuns)}) {
    state.devices[index].ledger.Add(segment);
  }
  EXPECT_TRUE(FindSteadyPart(state, Steps(15, 30, 1)).steps.has_value());
  EXPECT_FALSE(FindSteadyPart(state, Steps(21, 30, 1)).steps.has_value());
  EXPECT_FALSE(FindSteadyPart(state, std::nullopt).steps.has_value());
  StepsSpan elsewhere = Steps(0, 30, 1);
  elsewhere.device = 1;
  EXPECT_FALSE(FindSteadyPart(state, elsewhere).steps.has_value()) << "no such device";
}

// Ten nanoseconds of a step, and twice as many of which only the first are traced.
TEST(SteadyPartTest, WhatFollowsTheEndOfRecordsIsNotTakenForSomethingElse) {
  RunState state;
  const uint32_t index = state.devices.Find(RunBuilder::Uuid()).value();
  for (const ActivitySegment& segment : {Segment(0, 10, kKernelRuns), Segment(10, 12, kKernelRuns),
                                         Segment(12, 40, kUntracedMask)}) {
    state.devices[index].ledger.Add(segment);
  }
  ProcessState* process = state.processes.Get(1);
  EXPECT_FALSE(FindSteadyPart(state, Steps(0, 10, 1)).steps.has_value());
  process->status.set_records_state(RECORDS_ENDED);
  EXPECT_TRUE(FindSteadyPart(state, Steps(0, 10, 1)).steps.has_value());
}

// Ten steps, and windows that are shorter than a step in the nine times as long that followed.
TEST(SteadyPartTest, StepsThatGoOnInShortWindowsAreNotTakenForSomethingElse) {
  RunState state;
  const uint32_t index = state.devices.Find(RunBuilder::Uuid()).value();
  state.devices[index].ledger.Add(Segment(0, 100, kKernelRuns));
  for (uint64_t begin_ms = 100; begin_ms < 1000; begin_ms += 100) {
    state.devices[index].ledger.Add(Segment(begin_ms, begin_ms + 95, kUntracedMask));
    state.devices[index].ledger.Add(Segment(begin_ms + 95, begin_ms + 100, kKernelRuns));
  }
  StepsSpan steps = Steps(0, 100, 10);
  EXPECT_FALSE(FindSteadyPart(state, steps).steps.has_value()) << "of unknown work";
  steps.after_ns = 860.0 * kMillisecond;
  EXPECT_TRUE(FindSteadyPart(state, steps).steps.has_value());
  steps.after_ns = 700.0 * kMillisecond;
  EXPECT_FALSE(FindSteadyPart(state, steps).steps.has_value()) << "of another pace";
}

// 20 steps of five kernels, of which only the first tenth of the run is traced; the same kernels on
// `streams` streams at once.
Summary TracedInAWindow(uint32_t streams) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a", "b", "c", "d", "e"}, 1, 10);
  uint64_t now = 0;
  for (int step = 0; step < 20; ++step) {
    for (uint32_t stream = 0; stream < streams; ++stream) {
      std::vector<Launch> launches;
      for (uint32_t i = 0; i < 5; ++i) {
        launches.push_back(Build::LaunchAt(now + i * kMillisecond, kMillisecond - 10, i));
      }
      run.SendLaunches(launches, 1, 7 + stream);
    }
    now += 5 * kMillisecond;
  }
  TraceWindow window;
  window.set_flags(1);
  window.set_start_ns(kRunStartNs);
  window.set_end_ns(kRunStartNs + 100 * kMillisecond);
  run.Send(1, FRAME_TRACE_WINDOW, window);
  return run.EndRun(1000 * kMillisecond);
}

TEST(SteadyPartTest, SharesAreOfTheTimeThatTheyWereCountedIn) {
  for (const uint32_t streams : {1u, 3u}) {
    const Summary summary = TracedInAWindow(streams);
    const FindingSummary* finding = Finding(summary, "small_batch");
    ASSERT_NE(finding, nullptr);
    EXPECT_NEAR(finding->gain_share(), 0.9, 0.01) << "a tenth of the SMs did all";
    EXPECT_NE(finding->evidence().find("take 100.0 %"), std::string::npos) << finding->evidence();
    EXPECT_NEAR(SliceShare(summary, kSliceUntraced), 0.9, 1e-6) << "tracing ended";
    ExpectSlicesSumToTheWhole(summary);
  }
}

}  // namespace
}  // namespace utlz
