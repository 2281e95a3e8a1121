#include "collector/diagnosis/what_is_known.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace utlz {
namespace {

using testing::HasSubstr;
using testing::Not;

Summary RunOn(CounterSource source, const std::string& reason = "") {
  Summary summary;
  summary.mutable_run()->add_command("python");
  summary.mutable_run()->add_command("train.py");
  summary.add_devices()->set_name("NVIDIA H100 80GB HBM3");
  summary.add_kernels()->set_name("gemm");
  summary.mutable_capture()->set_counter_source(source);
  if (!reason.empty()) summary.mutable_capture()->set_counter_source_reason(reason);
  return summary;
}

TEST(WhatIsKnownTest, WithoutCountersTimesAreKnownAndOneCommandBringsTheRest) {
  Summary summary = RunOn(SOURCE_TIME_ONLY, "this user may not read the GPU's counters: denied");
  SayWhatIsKnown("auto", &summary);
  EXPECT_THAT(summary.known(), HasSubstr("when each kernel"));
  EXPECT_THAT(summary.known(), Not(HasSubstr("NVML")));
  EXPECT_THAT(summary.not_known(), HasSubstr("FLOPs and bytes"));
  EXPECT_EQ(summary.next_command(), "sudo utlz run python train.py");
}

TEST(WhatIsKnownTest, WhoAskedForNoneIsNotSentToRoot) {
  Summary summary = RunOn(SOURCE_TIME_ONLY);
  SayWhatIsKnown("none", &summary);
  EXPECT_EQ(summary.next_command(), "utlz run --counters auto python train.py");
  summary = RunOn(SOURCE_TIME_ONLY, "the GPU's counters failed: 999");
  SayWhatIsKnown("auto", &summary);
  EXPECT_EQ(summary.next_command(), "utlz doctor");
}

TEST(WhatIsKnownTest, AnAttachmentIsMadeAgain) {
  Summary summary = RunOn(SOURCE_TIME_ONLY);
  *summary.mutable_run()->mutable_command() = {};
  for (const char* word : {"utlz", "attach", "--all", "4711"}) {
    summary.mutable_run()->add_command(word);
  }
  summary.mutable_run()->set_attached(true);
  SayWhatIsKnown("none", &summary);
  EXPECT_EQ(summary.next_command(), "utlz attach --counters auto --all 4711");
  summary.mutable_capture()->set_counter_source_reason("this user may not read the counters");
  SayWhatIsKnown("auto", &summary);
  EXPECT_EQ(summary.next_command(), "sudo utlz attach --all 4711");
}

TEST(WhatIsKnownTest, TheCommandIsAsAShellTakesIt) {
  Summary summary = RunOn(SOURCE_TIME_ONLY);
  *summary.mutable_run()->mutable_command() = {};
  for (const char* word : {"sh", "-c", "echo 'it is'; exit", ""}) {
    summary.mutable_run()->add_command(word);
  }
  SayWhatIsKnown("none", &summary);
  EXPECT_EQ(summary.next_command(),
            "utlz run --counters auto sh -c 'echo '\\''it is'\\''; exit' ''");
}

TEST(WhatIsKnownTest, TotalsOfTheDeviceAreKnownToo) {
  Summary summary = RunOn(SOURCE_GPM, "another profiler holds the GPU's counters: busy");
  SayWhatIsKnown("auto", &summary);
  EXPECT_THAT(summary.known(), HasSubstr("of the whole GPU, by NVML"));
  EXPECT_THAT(summary.next_command(), HasSubstr("dcgmi profile --pause"));
}

TEST(WhatIsKnownTest, AMigSliceIsSaidToHaveNone) {
  Summary summary = RunOn(SOURCE_TIME_ONLY);
  summary.mutable_devices(0)->set_name("NVIDIA H100 80GB HBM3 MIG 1g.10gb");
  SayWhatIsKnown("auto", &summary);
  EXPECT_THAT(summary.not_known(), HasSubstr("MIG slice"));
  EXPECT_THAT(summary.next_command(), HasSubstr("without MIG"));
}

TEST(WhatIsKnownTest, StepsThatWereHardlySampledNameTheirDelay) {
  Summary summary = RunOn(SOURCE_SAMPLED);
  summary.mutable_capture()->set_steps_sampled_share(0.005);
  summary.mutable_capture()->set_kernel_time_without_counters_share(0.03);
  PhaseSummary* phase = summary.add_phases();
  phase->set_name("steps");
  phase->set_start_ns(18.7e9);
  SayWhatIsKnown("auto", &summary);
  EXPECT_FALSE(summary.has_known()) << "most kernels have counters";
  EXPECT_FALSE(summary.has_not_known());
  EXPECT_EQ(summary.next_command(), "utlz run --delay 18 python train.py  # leaves start-up out");
}

// Neither more steps nor a delay would be recorded.
TEST(WhatIsKnownTest, WhereRecordsEndedOnlyLaterOnesHelp) {
  for (const double steps_ns : {1e9, 9e9}) {
    Summary summary = RunOn(SOURCE_SAMPLED);
    summary.mutable_capture()->set_steps_sampled_share(0.015);
    summary.mutable_capture()->set_kernel_time_without_counters_share(1);
    summary.mutable_capture()->set_records_ended_after_ns(4.07e9);
    PhaseSummary* phase = summary.add_phases();
    phase->set_name("steps");
    phase->set_start_ns(1.7e9);
    phase->set_time_ns(steps_ns);
    SayWhatIsKnown("auto", &summary);
    EXPECT_EQ(summary.next_command(),
              "utlz run --later-windows always python train.py  # records kernels beyond the first "
              "4.07 s, which makes each launch longer");
  }
}

TEST(WhatIsKnownTest, StepsThatWereShortNeedMoreOfThemAndNoDelay) {
  Summary summary = RunOn(SOURCE_SAMPLED);
  summary.mutable_capture()->set_steps_sampled_share(0);
  summary.mutable_capture()->set_kernel_time_without_counters_share(1);
  PhaseSummary* phase = summary.add_phases();
  phase->set_name("steps");
  phase->set_start_ns(5.3e9);
  phase->set_time_ns(355e6);
  SayWhatIsKnown("auto", &summary);
  EXPECT_EQ(summary.next_command(),
            "utlz run python train.py  # with more steps: these took 355 ms, some 10 s show their "
            "FLOPs and bytes");
  phase->set_name("work");
  phase->set_time_ns(30.9e6);
  SayWhatIsKnown("auto", &summary);
  EXPECT_EQ(summary.next_command(),
            "utlz run python train.py  # with more work: this took 30.9 ms, some 10 s show its "
            "FLOPs and bytes");
  phase->set_time_ns(30e9);
  SayWhatIsKnown("auto", &summary);
  EXPECT_EQ(summary.next_command(), "utlz run --overhead-budget unlimited python train.py");
  EXPECT_EQ(summary.not_known(),
            "MFU; it needs no counters where --model-config or --model-flops-per-step tells the "
            "model's FLOPs");
}

// More samples would not tell whose work they counted.
TEST(WhatIsKnownTest, WorkOfSeveralProcessesAsksForNoOtherRun) {
  Summary summary = RunOn(SOURCE_SAMPLED);
  summary.mutable_capture()->set_steps_sampled_share(0.2);
  summary.mutable_capture()->set_kernel_time_without_counters_share(1);
  summary.mutable_devices(0)->set_overlap_share(0.5);
  SayWhatIsKnown("auto", &summary);
  EXPECT_FALSE(summary.has_known() || summary.has_not_known() || summary.has_next_command());
}

TEST(WhatIsKnownTest, WhereAllIsKnownNothingIsSaid) {
  Summary summary = RunOn(SOURCE_SAMPLED);
  summary.mutable_capture()->set_steps_sampled_share(0.2);
  summary.mutable_capture()->set_kernel_time_without_counters_share(0.03);
  SayWhatIsKnown("auto", &summary);
  EXPECT_FALSE(summary.has_known() || summary.has_not_known() || summary.has_next_command());
}

}  // namespace
}  // namespace utlz
