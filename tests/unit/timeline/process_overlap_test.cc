// Several traced processes at work at once on one GPU.
#include "collector/timeline/process_overlap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/counted_run.h"

namespace utlz {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Activity KernelOfProcess(uint16_t source, uint64_t start_ns, uint64_t end_ns) {
  return {.start_ns = start_ns,
          .end_ns = end_ns,
          .kernel = 0,
          .stream = 7,
          .context = 1,
          .source = source,
          .kind = ActivityKind::kCompute};
}

TEST(ProcessOverlap, IsOfDifferentProcessesOnly) {
  ProcessOverlap overlap;
  overlap.Add(KernelOfProcess(1, 0, 100));
  overlap.Add(KernelOfProcess(1, 50, 150));
  overlap.Add(KernelOfProcess(2, 150, 200));
  EXPECT_EQ(overlap.time_ns(), 0u);
  EXPECT_EQ(overlap.processes(), 0u);
}

TEST(ProcessOverlap, CountsTimeOnce) {
  ProcessOverlap overlap;
  overlap.Add(KernelOfProcess(1, 0, 100));
  const auto first = overlap.Add(KernelOfProcess(2, 20, 60));
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->start_ns, 20u);
  EXPECT_EQ(first->end_ns, 60u);
  EXPECT_FALSE(overlap.Add(KernelOfProcess(3, 30, 50)).has_value()) << "known already";
  const auto second = overlap.Add(KernelOfProcess(2, 90, 200));
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->start_ns, 90u);
  EXPECT_EQ(second->end_ns, 100u);
  EXPECT_EQ(overlap.time_ns(), 50u);
  EXPECT_EQ(overlap.processes(), 3u);
  EXPECT_TRUE(overlap.Holds(3));
  EXPECT_FALSE(overlap.Holds(4));
}

TEST(ProcessOverlap, OneThatComesLateIsLeftOut) {
  ProcessOverlap overlap;
  overlap.Add(KernelOfProcess(1, 500, 600));
  EXPECT_FALSE(overlap.Add(KernelOfProcess(2, 0, 100)).has_value());
  EXPECT_EQ(overlap.time_ns(), 0u);
}

// CountedRun's process and another that launches beside it, so many times.
Summary RunBeside(uint32_t repetitions, uint64_t from_ns, uint64_t duration_ns) {
  CountedRun run;
  run.frames().StartProcess(2, RunBuilder::Uuid('A'));
  run.frames().SendKernels({"nvjet_sm90_tst_other"}, 2);
  for (uint32_t i = 0; i < repetitions; ++i) {
    run.frames().SendLaunches(
        {RunBuilder::LaunchAt((200 + i) % CountedRun::kRepetitions * CountedRun::kStepNs + from_ns,
                              duration_ns)},
        2);
  }
  return run.Run();
}

const KernelSummary& KernelOf(const Summary& summary, const std::string& name) {
  for (const KernelSummary& kernel : summary.kernels()) {
    if (kernel.mangled_name() == name) return kernel;
  }
  ADD_FAILURE() << name;
  return summary.kernels(0);
}

TEST(ProcessOverlap, WithholdsBytesAndFlopsOfKernels) {
  const Summary summary = RunBeside(CountedRun::kRepetitions, 10'000, 60'000);
  EXPECT_THAT(
      summary.run().notices(),
      Contains(HasSubstr("Kernels of 2 processes of this run ran beside another's on Test GPU")));
  EXPECT_EQ(summary.kernels_size(), 3);
  for (const KernelSummary& kernel : summary.kernels()) {
    EXPECT_FALSE(kernel.has_dram_bytes()) << kernel.name();
    EXPECT_FALSE(kernel.has_dram_read_bytes()) << kernel.name();
    EXPECT_FALSE(kernel.has_flops()) << kernel.name();
    EXPECT_FALSE(kernel.has_tensor_active_share()) << kernel.name();
    EXPECT_FALSE(kernel.has_roofline_time_ns()) << kernel.name();
    EXPECT_THAT(kernel.withheld_reason(), HasSubstr("another process"));
    EXPECT_GT(kernel.time_ns(), 0) << kernel.name();
  }
  const DeviceSummary& device = summary.devices(0);
  EXPECT_EQ(device.overlapping_processes(), 2u);
  EXPECT_NEAR(device.overlap_share(), 50.0 / 90, 0.01);
  EXPECT_FALSE(device.has_flops());
  EXPECT_FALSE(device.has_hfu());
  // What the device as a whole did is known all the same.
  const double read = 4.0 * CountedRun::kRepetitions * CountedRun::kKernelNs;
  EXPECT_NEAR(device.dram_read_bytes() / read, 1, 0.03);
}

TEST(ProcessOverlap, OfAMomentLeavesThatMomentOut) {
  const Summary alone = CountedRun().Run();
  const Summary summary = RunBeside(5, 10'000, 60'000);
  const DeviceSummary& device = summary.devices(0);
  EXPECT_LT(device.overlap_share(), 0.01);
  EXPECT_EQ(device.overlapping_processes(), 2u);
  EXPECT_THAT(summary.run().notices(),
              Contains(HasSubstr("what was counted then is left out of bytes and FLOPs")));
  EXPECT_GE(summary.capture().samples_untraced(), 5 * 50'000 / CountedRun::kIntervalNs);
  for (const char* name : {"nvjet_sm90_tst_a", "copy_b"}) {
    EXPECT_NEAR(KernelOf(summary, name).dram_bytes() / KernelOf(alone, name).dram_bytes(), 1, 0.01)
        << name;
  }
  EXPECT_FALSE(KernelOf(summary, "nvjet_sm90_tst_other").has_dram_bytes())
      << "never ran alone for long";
  EXPECT_TRUE(device.has_hfu());
}

TEST(ProcessOverlap, ProcessesThatTakeTurnsHaveTheirFigures) {
  const Summary summary = RunBeside(CountedRun::kRepetitions, 91'000, 11'000);
  EXPECT_FALSE(summary.devices(0).has_overlap_share());
  EXPECT_THAT(summary.run().notices(), Not(Contains(HasSubstr("at once"))));
  EXPECT_TRUE(KernelOf(summary, "nvjet_sm90_tst_a").has_dram_bytes());
  EXPECT_TRUE(summary.devices(0).has_hfu());
}

Summary RunWithMps(bool first, bool second) {
  RunBuilder run;
  run.StartRun();
  uint32_t source = 1;
  for (const bool mps : {first, second}) {
    run.StartProcess(source);
    Device device;
    device.set_uuid(RunBuilder::Uuid());
    device.set_name("Test GPU");
    device.set_mps(mps);
    run.Send(source++, FRAME_DEVICE, device);
  }
  return run.EndRun(1'000'000);
}

TEST(ProcessOverlap, SaysThatMpsMayRunOthersBesideThese) {
  for (const bool first : {true, false}) {
    const Summary summary = RunWithMps(first, !first);
    EXPECT_TRUE(summary.devices(0).mps()) << "one of the processes says so";
    EXPECT_THAT(summary.run().notices(), Contains(HasSubstr("MPS is in use on Test GPU")));
  }
  const Summary without = RunWithMps(false, false);
  EXPECT_FALSE(without.devices(0).has_mps());
  EXPECT_THAT(without.run().notices(), Not(Contains(HasSubstr("MPS"))));
}

}  // namespace
}  // namespace utlz
