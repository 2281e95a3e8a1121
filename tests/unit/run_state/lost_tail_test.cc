// The last records of a process that is killed never come, but its work was sampled.
#include <gtest/gtest.h>

#include "tests/support/counted_run.h"

namespace utlz {
namespace {

constexpr uint32_t kFirstLost = CountedRun::kRepetitions / 2;
constexpr uint64_t kHandedOverNs = kFirstLost * CountedRun::kStepNs;
constexpr uint64_t kEndNs = CountedRun::kRepetitions * CountedRun::kStepNs;

void SendFlush(RunBuilder* run, uint64_t time_ns, uint64_t flushed_ns) {
  AgentStatus status;
  status.set_time_ns(kRunStartNs + time_ns);
  status.set_flushed_until_ns(kRunStartNs + flushed_ns);
  run->Send(1, FRAME_AGENT_STATUS, status);
}

void ExpectKnownBytes(const Summary& summary) {
  ASSERT_EQ(summary.kernels_size(), 2);
  for (const KernelSummary& kernel : summary.kernels()) {
    const double bytes_per_ns = kernel.name() == "copy_b" ? 1 : 4;
    const auto truth = static_cast<double>(kFirstLost * CountedRun::kKernelNs) * bytes_per_ns;
    EXPECT_EQ(kernel.launches(), kFirstLost);
    EXPECT_NEAR(kernel.dram_bytes(), truth, truth * 0.01) << kernel.name();
    EXPECT_LT(kernel.dram_bytes_error(), truth * 0.03) << kernel.name();
  }
}

TEST(LostTailTest, SamplesOfAKilledProcessAfterItsLastRecordsTellNothingOfItsKernels) {
  CountedRun run;
  run.LoseRecordsFrom(kFirstLost);
  run.SendWork();
  ProcessEnd end;
  end.set_time_ns(kRunStartNs + kEndNs);
  end.set_how("vanished");
  end.set_lost_at_most_ns(kEndNs - kHandedOverNs);
  run.frames().Send(1, FRAME_PROCESS_END, end);
  ExpectKnownBytes(run.frames().EndRun(kEndNs));
}

TEST(LostTailTest, NorDoThoseOfAProfileThatWasCutOff) {
  CountedRun run;
  run.LoseRecordsFrom(kFirstLost);
  SendFlush(&run.frames(), kHandedOverNs + 1000, kHandedOverNs);
  run.SendWork();
  ExpectKnownBytes(run.frames().CutOff());
}

TEST(LostTailTest, TimeWithoutRecordsIsUntracedAndNotIdle) {
  CountedRun run;
  run.LoseRecordsFrom(kFirstLost);
  SendFlush(&run.frames(), kEndNs, kHandedOverNs);
  run.SendWork();
  const Summary summary = run.frames().CutOff();
  ASSERT_EQ(summary.devices_size(), 1);
  EXPECT_NEAR(summary.devices(0).gpu_busy_share(), 80.0 / 103, 0.02);
}

// The records of the last second had come when the profile was cut off, what it said of them had
// not.
TEST(LostTailTest, RecordsThatCameAfterTheLastFlushCountAsHandedOver) {
  CountedRun run;
  run.LoseRecordsFrom(kFirstLost);
  SendFlush(&run.frames(), kHandedOverNs / 2, kHandedOverNs / 2);
  run.SendWork();
  const Summary summary = run.frames().CutOff();
  ASSERT_EQ(summary.devices_size(), 1);
  EXPECT_NEAR(static_cast<double>(summary.devices(0).steady_state_ns()), double{kHandedOverNs},
              0.01 * kHandedOverNs);
}

TEST(LostTailTest, AProcessThatEndedByItselfLostNothing) {
  CountedRun run;
  run.LoseRecordsFrom(CountedRun::kRepetitions);
  SendFlush(&run.frames(), kEndNs, kHandedOverNs);
  run.SendWork();
  run.frames().EndProcess();
  const Summary summary = run.frames().EndRun(kEndNs);
  ASSERT_EQ(summary.devices_size(), 1);
  EXPECT_NEAR(static_cast<double>(summary.devices(0).steady_state_ns()), double{kEndNs},
              0.01 * kEndNs);
}

}  // namespace
}  // namespace utlz
