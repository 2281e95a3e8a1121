// What the report says of the sampler's surroundings.
#include "collector/diagnosis/sampling_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/gpu_uuid.h"
#include "collector/run/run_state.h"
#include "collector/summarize/summary_builder.h"
#include "tests/support/counted_run.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SamplingNoticesTest : public ::testing::Test {
 protected:
  SamplingNoticesTest() {
    run_.StartRun();
    run_.StartProcess(1);
  }

  // NVML counts so many processes on the GPU.
  void Count(uint32_t processes) {
    DeviceTotalsBatch totals;
    totals.set_device_uuid(RunBuilder::Uuid());
    totals.set_compute_processes(processes);
    run_.Send(0, FRAME_DEVICE_TOTALS, totals);
  }

  uint32_t OtherProcesses() { return Device().other_processes(); }

  DeviceSummary Device() {
    const Summary summary = Summarize(run_.intake().Advance());
    return summary.devices_size() == 1 ? summary.devices(0) : DeviceSummary();
  }

  std::vector<std::string> Notices() {
    const Summary summary = Summarize(run_.intake().Advance());
    return {summary.run().notices().begin(), summary.run().notices().end()};
  }

  RunBuilder run_;
};

TEST_F(SamplingNoticesTest, ProcessesThatAreNotTracedAreCounted) {
  Count(1);
  Count(1);
  EXPECT_FALSE(Device().has_other_processes());
  Count(3);
  EXPECT_EQ(OtherProcesses(), 0u) << "one of the run may not have said yet that it is there";
  Count(3);
  EXPECT_EQ(OtherProcesses(), 2u);
  Count(2);
  EXPECT_EQ(OtherProcesses(), 2u) << "they were there";
}

TEST_F(SamplingNoticesTest, ProcessesOfTheRunAreNoOthers) {
  run_.StartProcess(2);
  Count(2);
  Count(2);
  EXPECT_EQ(OtherProcesses(), 0u);
  run_.StartProcess(3, RunBuilder::Uuid('B'));
  Count(3);
  Count(3);
  EXPECT_EQ(Summarize(run_.intake().Advance()).devices(0).other_processes(), 1u)
      << "on another GPU";
}

TEST_F(SamplingNoticesTest, OnlyThoseThatAreThereTwiceInARowAreOthers) {
  for (const uint32_t processes : {9, 1, 1, 9, 1}) {
    Count(processes);
    EXPECT_EQ(OtherProcesses(), 0u) << processes;
  }
}

TEST_F(SamplingNoticesTest, SecondsAreRoundedAndOneIsNotSeveral) {
  SamplerStatus status;
  status.set_device_uuid(RunBuilder::Uuid());
  status.set_lent_ns(1'960'000'000);
  status.set_lent_to("ncu");
  status.set_collectors(1);
  run_.Send(0, FRAME_SAMPLER_STATUS, status);
  EXPECT_THAT(Notices(), ElementsAre(HasSubstr("for 2.0 s"))) << "shared with nobody";
  status.set_collectors(2);
  run_.Send(0, FRAME_SAMPLER_STATUS, status);
  EXPECT_THAT(Notices(), Contains(HasSubstr("1 other collector,")));
}

TEST_F(SamplingNoticesTest, OfAGpuThatTheRunDoesNotUseNothingIsSaid) {
  SamplerStatus status;
  status.set_device_uuid(RunBuilder::Uuid('B'));
  status.set_lent_ns(1'000'000'000);
  run_.Send(0, FRAME_SAMPLER_STATUS, status);
  EXPECT_THAT(Notices(), IsEmpty());
}

TEST_F(SamplingNoticesTest, SaysWhoHadTheCountersAndWhoSharedThem) {
  SamplerStatus status;
  status.set_device_uuid(RunBuilder::Uuid());
  status.set_counter_source(SOURCE_SAMPLED);
  run_.Send(0, FRAME_SAMPLER_STATUS, status);
  EXPECT_THAT(Notices(), IsEmpty());
  status.set_lent_ns(12'340'000'000);
  status.set_lent_to("ncu, process 77");
  status.set_collectors(3);
  run_.Send(0, FRAME_SAMPLER_STATUS, status);
  EXPECT_THAT(Notices(), Contains(HasSubstr("(ncu, process 77) for 12.3 s")));
  EXPECT_THAT(Notices(), Contains(HasSubstr("2 other collectors")));
}

TEST_F(SamplingNoticesTest, WhatIsTheSameOfSeveralGpusIsSaidOnce) {
  run_.StartProcess(2, RunBuilder::Uuid('B'));
  for (const char gpu : {'A', 'B'}) {
    SamplerStatus status;
    status.set_device_uuid(RunBuilder::Uuid(gpu));
    status.set_counter_source(SOURCE_SAMPLED);
    status.set_collectors(3);
    run_.Send(0, FRAME_SAMPLER_STATUS, status);
  }
  EXPECT_THAT(Notices(), ElementsAre(HasSubstr("2 other collectors")));
}

TEST(OtherProcessesTest, MarkTheKernelsWhoseSamplesMayHoldTheirWork) {
  for (const uint32_t processes : {1u, 3u}) {
    CountedRun run;
    DeviceTotalsBatch totals;
    totals.set_device_uuid(RunBuilder::Uuid());
    totals.set_compute_processes(processes);
    run.frames().Send(0, FRAME_DEVICE_TOTALS, totals);
    run.frames().Send(0, FRAME_DEVICE_TOTALS, totals);
    const Summary summary = run.Run();
    ASSERT_EQ(summary.kernels_size(), 2);
    for (const KernelSummary& kernel : summary.kernels()) {
      ASSERT_TRUE(kernel.has_dram_bytes());
      ASSERT_EQ(kernel.merged_with_size(), processes == 1 ? 0 : 1);
      if (processes == 3) {
        EXPECT_EQ(kernel.merged_with(0), "2 processes not traced here");
      }
    }
    EXPECT_GT(summary.devices(0).attributed_bytes_share(), 0.9) << "totals stay";
  }
}

TEST_F(SamplingNoticesTest, SaysThatKernelsMayIncludeTheWorkOfOthers) {
  Summary summary;
  DeviceSummary* device = summary.add_devices();
  device->set_name("Test GPU");
  device->set_source(SOURCE_SAMPLED);
  AddSamplingNotices(RunState(), &summary);
  EXPECT_THAT(summary.run().notices(), IsEmpty()) << "there is nobody else";
  device->set_source(SOURCE_GPM);
  device->set_other_processes(1);
  const RunState empty;
  AddSamplingNotices(empty, &summary);
  EXPECT_THAT(summary.run().notices(), IsEmpty()) << "no kernel has counters";
  device->set_source(SOURCE_SAMPLED);
  AddSamplingNotices(empty, &summary);
  EXPECT_THAT(summary.run().notices(), Contains(HasSubstr("1 process not traced here")));
}

// What a run that ended soon after its first samples says of kernels that none met.
std::vector<std::string> OfShortRun(double without_counters_share, double overlap_share,
                                    uint64_t steps = 0, bool records_ended = false) {
  RunState state;
  state.run_end.emplace();
  DeviceState& device = state.devices[*state.devices.Find(std::string(16, 'a'))];
  device.used = true;
  device.status.emplace().set_samples(9'000);
  Summary summary;
  if (steps > 0) summary.mutable_steps()->set_steps(steps);
  DeviceSummary* one = summary.add_devices();
  one->set_uuid(FormatGpuUuid(device.uuid));
  one->set_source(SOURCE_SAMPLED);
  if (overlap_share > 0) one->set_overlap_share(overlap_share);
  for (const bool counted : {false, true}) {
    KernelSummary* kernel = summary.add_kernels();
    kernel->set_device_uuid(one->uuid());
    kernel->set_time_ns(counted ? 1 - without_counters_share : without_counters_share);
    if (counted) kernel->set_dram_bytes(1);
  }
  summary.mutable_capture()->set_kernel_time_without_counters_share(without_counters_share);
  if (records_ended) summary.mutable_capture()->set_records_ended_after_ns(3e9);
  AddSamplingNotices(state, &summary);
  return {summary.run().notices().begin(), summary.run().notices().end()};
}

TEST(ShortRunTest, WithoutStepsItSpeaksOfWork) {
  EXPECT_THAT(OfShortRun(0.3, 0), ElementsAre(HasSubstr("10 s more of the same work")));
  EXPECT_THAT(OfShortRun(0.3, 0, 7), ElementsAre(HasSubstr("10 s more of the same steps")));
}

TEST(ShortRunTest, WhereRecordsEndedALongerRunWouldNotHelp) {
  EXPECT_THAT(OfShortRun(0.3, 0, 7, true), IsEmpty());
}

TEST(ShortRunTest, WhatTheFirstScreenSaysIsNotSaidAgain) {
  EXPECT_THAT(OfShortRun(0.3, 0), ElementsAre(HasSubstr("the run ended too soon")));
  EXPECT_THAT(OfShortRun(0.05, 0), IsEmpty());
  EXPECT_THAT(OfShortRun(0.6, 0), IsEmpty()) << "there it is most of what is said";
  EXPECT_THAT(OfShortRun(0.3, 0.5), ElementsAre(HasSubstr("ran beside another's")))
      << "a longer run would not help";
}

}  // namespace
}  // namespace utlz
