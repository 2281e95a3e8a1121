// What shares and findings are of: the steps, and the time in which they were traced.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/model/waterfall.h"
#include "tests/unit/model/made_up_loads.h"

namespace utlz {
namespace {

using Build = RunBuilder;

// What a job of PyTorch does before its loop, ten times as long as the loop, and then 40 steps.
void SendStartUpAndSteps(RunBuilder* run, uint64_t step_pause_ns = 0) {
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i) names.push_back("kernel_" + std::to_string(i));
  run->SendKernels(names);
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
  EXPECT_EQ(summary.window().of(), "steps");
  EXPECT_NEAR(summary.window().start_ns(), 2000.0 * kMillisecond, 1);
  EXPECT_GT(summary.devices(0).gpu_busy_share(), 0.99);
  EXPECT_LT(summary.devices(0).run_gpu_busy_share(), 0.2);
  EXPECT_NEAR(SliceShare(summary, kSliceStartUp), 2.0 / 3, 1e-6);
  EXPECT_GT(SliceShare(summary, kSliceEnd), 0.2);
  EXPECT_EQ(SliceShare(summary, kSliceIdleInput), 0);
  EXPECT_EQ(SliceShare(summary, kSliceCopies), 0);
  ExpectSlicesSumToTheWhole(summary);
}

TEST(SteadyPartTest, PausesBetweenStepsAreSlicesOfTheirOwn) {
  RunBuilder paused;
  paused.StartRun();
  paused.StartProcess();
  SendStartUpAndSteps(&paused, 900 * kMillisecond);
  const Summary summary = paused.EndRun(4000 * kMillisecond);
  EXPECT_EQ(Finding(summary, "host_work"), nullptr);
  EXPECT_EQ(summary.window().pauses(), 1u);
  EXPECT_NEAR(SliceShare(summary, kSlicePauses), 0.9 / 4, 1e-3);
  EXPECT_GT(summary.devices(0).gpu_busy_share(), 0.99);
  ExpectSlicesSumToTheWhole(summary);

  RunBuilder short_one;  // nine steps long: a slow step, if a rare one
  short_one.StartRun();
  short_one.StartProcess();
  SendStartUpAndSteps(&short_one, 45 * kMillisecond);
  EXPECT_EQ(short_one.EndRun(4000 * kMillisecond).window().pauses(), 0u);
}

TEST(SteadyPartTest, ALoopThatDoesLittleIsNotWhatTheRunIsAbout) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  SendLoop(&run, 20, 10 * kMicrosecond, kMicrosecond);
  run.SendLaunches({Build::LaunchAt(10 * kMillisecond, 500 * kMillisecond, 3)});
  const Summary summary = run.EndRun(1000 * kMillisecond);
  EXPECT_TRUE(summary.has_steps());
  EXPECT_EQ(summary.window().of(), "run");
  EXPECT_GT(SliceShare(summary, kSliceOutside), 0.4);
  ExpectSlicesSumToTheWhole(summary);
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
