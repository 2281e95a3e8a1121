// Frames that a run refuses: broken ones, of senders that may not send them, with values that none
// of their kind has.
#include <gtest/gtest.h>

#include <cmath>

#include "collector/run/run_intake.h"
#include "collector/summarize/summary_builder.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

// A process that has launched one kernel.
void StartWithOneLaunch(RunBuilder* run) {
  run->StartRun();
  run->StartProcess();
  run->SendKernels({"a"});
  run->SendLaunches({RunBuilder::LaunchAt(0, 1000)});
}

TEST(RunIntakeTest, CountsRefusedFramesAndGoesOn) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a"});
  for (uint16_t type = FRAME_PROCESS; type <= FRAME_PROCESS_END; ++type) {
    run.intake().Consume(1, type, "\xff\xff\xff\xff");
  }
  run.intake().Consume(0, 12345, "an unknown type is skipped");
  run.SendLaunches({RunBuilder::LaunchAt(0, 1000)});
  const Summary summary = run.EndRun(10'000);
  EXPECT_GE(summary.capture().frames_refused(), 10u);
  ASSERT_EQ(summary.kernels_size(), 1);
  EXPECT_EQ(summary.kernels(0).launches(), 1u);
}

TEST(RunIntakeTest, AcceptsNoTargetThatSpeaksForTheSampler) {
  RunBuilder run;
  StartWithOneLaunch(&run);
  DevicePeaks peaks;
  peaks.set_device_uuid(RunBuilder::Uuid());
  peaks.set_dram_bytes_per_second(1);
  run.Send(1, FRAME_DEVICE_PEAKS, peaks);
  RunEnd end;
  run.Send(1, FRAME_RUN_END, end);
  const Summary summary = Summarize(run.intake().Advance());
  EXPECT_FALSE(summary.run().finished());
  EXPECT_FALSE(summary.devices(0).has_peak_dram_bytes_per_second());
  EXPECT_EQ(summary.capture().frames_refused(), 2u);
}

TEST(RunIntakeTest, RefusesPeaksThatAreNone) {
  for (const double peak : {std::nan(""), HUGE_VAL, 1e308, -1.0}) {
    RunBuilder run;
    StartWithOneLaunch(&run);
    DevicePeaks peaks;
    peaks.set_device_uuid(RunBuilder::Uuid());
    peaks.set_dram_bytes_per_second(1e12);
    peaks.add_pipe()->set_flops_per_cycle(peak);
    run.Send(0, FRAME_DEVICE_PEAKS, peaks);
    const Summary summary = Summarize(run.intake().Advance());
    EXPECT_FALSE(summary.devices(0).has_peak_dram_bytes_per_second()) << peak;
    EXPECT_EQ(summary.capture().frames_refused(), 1u) << peak;
  }
}

}  // namespace
}  // namespace utlz
