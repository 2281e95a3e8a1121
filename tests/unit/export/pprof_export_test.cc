#include "tools/export/pprof_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "tests/support/uneven_windows.h"
#include "tests/unit/export/pprof_file.h"
#include "tests/unit/export/profile_maker.h"
#include "tests/unit/export/recorded_profile.h"
#include "tools/export/trace_export.h"
#include "tools/replay/replay.h"

namespace utlz {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kThread = 99;

Launch CalledLaunch(uint64_t start_ns, uint64_t duration_ns, uint32_t variant,
                    uint32_t correlation) {
  Launch launch = RunBuilder::LaunchAt(start_ns, duration_ns, variant);
  launch.correlation = correlation;
  return launch;
}

void AddCall(uint64_t start_ns, uint32_t correlation, LaunchCallBatch* batch) {
  int64_t last_ns = 0, last_correlation = 0;
  for (const int64_t delta : batch->start_delta_ns()) last_ns += delta;
  for (const int64_t delta : batch->correlation_delta()) last_correlation += delta;
  batch->set_base_ns(kRunStartNs);
  batch->add_start_delta_ns(static_cast<int64_t>(start_ns) - last_ns);
  batch->add_duration_ns(10);
  batch->add_correlation_delta(int64_t{correlation} - last_correlation);
  batch->add_thread(kThread);
}

void AddRange(uint64_t start_ns, uint64_t end_ns, uint32_t name, MarkerBatch* batch) {
  int64_t last_ns = 0;
  for (const int64_t delta : batch->start_delta_ns()) last_ns += delta;
  batch->set_base_ns(kRunStartNs);
  batch->add_start_delta_ns(static_cast<int64_t>(start_ns) - last_ns);
  batch->add_duration_ns(end_ns - start_ns);
  batch->add_name(name);
  batch->add_domain(0);
  batch->add_thread(kThread);
  batch->add_depth(0);
}

// Each takes 100 ns.
CopyBatch CopiesAt(const std::vector<std::pair<uint64_t, CopyKind>>& copies) {
  CopyBatch batch;
  batch.set_base_ns(kRunStartNs);
  uint64_t last_ns = 0;
  for (const auto& [start_ns, kind] : copies) {
    batch.add_kind(kind);
    batch.add_start_delta_ns(static_cast<int64_t>(start_ns - last_ns));
    last_ns = start_ns;
    batch.add_duration_ns(100);
    batch.add_bytes(8);
    batch.add_stream(7);
    batch.add_context(1);
  }
  return batch;
}

class PprofExportTest : public ::testing::Test {
 protected:
  PprofExportTest()
      : name_(::testing::UnitTest::GetInstance()->current_test_info()->name()),
        profile_(::testing::TempDir() + "pprof_" + name_ + ".utlz"),
        output_(::testing::TempDir() + "pprof_" + name_ + ".pb.gz") {}

  PprofFile Export(bool counters = true) {
    TraceExportOptions options;
    options.replace = true;
    options.counters = counters;
    const auto result = ExportTrace(profile_, TraceFormat::kPprof, output_, options);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    if (result.ok()) result_ = *result;
    return ReadPprof(output_);
  }

  // Two kernels. The first one is launched at 100 and 300 in "forward" in "step", at 500 in "step"
  // alone and at 900 in no range; the second at 700 in "step".
  void MakeNestedRun() {
    RecordedProfile profile(profile_);
    profile.StartRun();
    profile.StartProcess();
    profile.SendKernels({"gemm", "softmax"});
    Strings ranges;
    ranges.set_first(3);
    ranges.add_values("step");
    ranges.add_values("forward");
    profile.Send(1, FRAME_STRINGS, ranges);
    profile.SendLaunches({CalledLaunch(1000, 100, 0, 11), CalledLaunch(1150, 100, 0, 12),
                          CalledLaunch(1400, 50, 0, 13), CalledLaunch(1450, 300, 1, 14),
                          CalledLaunch(2750, 70, 0, 15)});
    LaunchCallBatch calls;
    uint32_t correlation = 11;
    for (const uint64_t start_ns : {100, 300, 500, 700, 900})
      AddCall(start_ns, correlation++, &calls);
    profile.Send(1, FRAME_LAUNCH_CALLS, calls);
    MarkerBatch markers;
    AddRange(90, 400, 4, &markers);
    AddRange(50, 800, 3, &markers);
    profile.Send(1, FRAME_MARKERS, markers);
    profile.EndRun(10'000);
  }

  Summary Report() {
    const absl::StatusOr<Summary> summary = LoadSummary(profile_);
    EXPECT_TRUE(summary.ok()) << summary.status().ToString();
    return *summary;
  }

  std::string name_;
  std::string profile_;
  std::string output_;
  TraceExportResult result_;
};

TEST_F(PprofExportTest, SumsAreTheReportsTotals) {
  MakeNestedRun();
  const PprofFile file = Export();
  const Summary report = Report();
  int64_t time_ns = 0, launches = 0, idle_ns = 0;
  for (const KernelSummary& kernel : report.kernels()) {
    time_ns += std::llround(kernel.time_ns());
    launches += static_cast<int64_t>(kernel.launches());
  }
  for (const DeviceSummary& device : report.devices()) {
    idle_ns += static_cast<int64_t>(device.idle_time_ns());
  }
  EXPECT_EQ(time_ns, 620);
  EXPECT_EQ(idle_ns, 1200);
  EXPECT_EQ(file.Sum("gpu_time"), time_ns);
  EXPECT_EQ(file.Sum("launches"), launches);
  EXPECT_EQ(file.Sum("idle_time"), idle_ns);
  EXPECT_EQ(file.time_ns, static_cast<int64_t>(kRunStartNs));
}

TEST_F(PprofExportTest, RangesAreTheCallers) {
  MakeNestedRun();
  const PprofFile file = Export();
  EXPECT_EQ(file.SumUnder({"gemm", "forward", "step"}, "gpu_time"), 200);
  EXPECT_EQ(file.SumUnder({"gemm", "step"}, "gpu_time"), 50);
  EXPECT_EQ(file.SumUnder({"softmax", "step"}, "gpu_time"), 300);
  EXPECT_EQ(file.SumUnder({"gemm"}, "gpu_time"), 320);
  EXPECT_EQ(file.SumUnder({"gemm", "forward", "step"}, "launches"), 2);
}

TEST_F(PprofExportTest, AGapBelongsToTheLaunchThatEndsIt) {
  MakeNestedRun();
  const PprofFile file = Export();
  EXPECT_EQ(file.SumUnder({"gemm", "forward", "step"}, "idle_time"), 50);
  EXPECT_EQ(file.SumUnder({"gemm", "step"}, "idle_time"), 150);
  EXPECT_EQ(file.SumUnder({"softmax"}, "idle_time"), 0);
  EXPECT_EQ(file.SumUnder({"gemm"}, "idle_time"), 1200);
}

// A copy at 1,500 and a memory set at 2,100 between two kernels, and a copy after both.
TEST_F(PprofExportTest, AGapBeforeACopyBelongsToTheKernelThatFollows) {
  {
    RecordedProfile profile(profile_);
    profile.StartRun();
    profile.StartProcess();
    profile.SendKernels({"gemm", "softmax"});
    profile.SendLaunches({RunBuilder::LaunchAt(1000, 100, 0), RunBuilder::LaunchAt(2500, 100, 1)});
    profile.Send(
        1, FRAME_COPIES,
        CopiesAt({{1500, COPY_HOST_TO_DEVICE}, {2100, COPY_MEMSET}, {2900, COPY_DEVICE_TO_HOST}}));
    profile.EndRun(10'000);
  }
  const PprofFile file = Export();
  const Summary report = Report();
  ASSERT_EQ(report.devices_size(), 1);
  EXPECT_EQ(report.devices(0).idle_time_ns(), 1500);
  EXPECT_EQ(file.Sum("idle_time"), 1500);
  EXPECT_EQ(file.SumUnder({"softmax"}, "idle_time"), 400 + 500 + 300);
  EXPECT_EQ(file.SumUnder({"(idle)"}, "idle_time"), 300) << "no kernel follows the last copy";
  EXPECT_EQ(file.SumUnder({"copy host to device"}, "idle_time"), 0);
}

// As the report has it: of all steps, where some stand for more of them than others.
TEST_F(PprofExportTest, IdleTimeIsOfTheSameStepsAsTheMean) {
  RecordedProfile profile(profile_);
  profile.StartRun();
  profile.StartProcess();
  profile.SendKernels(KernelNames(UnevenWindows::kKernels));
  UnevenWindows program(&profile);
  RunDenseThenSparse({50 * kMicrosecond, 300 * kMicrosecond, 20 * kMicrosecond, 10 * kMicrosecond},
                     {200 * kMicrosecond, 30 * kMicrosecond, 1500 * kMicrosecond, 0}, &program);
  profile.EndRun(program.now_ns());
  const PprofFile file = Export();
  const Summary report = Report();
  ASSERT_EQ(report.steady_state().scope(), "steps");
  EXPECT_EQ(file.Sum("idle_time"), static_cast<int64_t>(report.devices(0).idle_time_ns()));
  const double of_a_step =
      report.steps().time_mean_ns() / static_cast<double>(report.devices(0).steady_state_ns());
  for (uint32_t i = 0; i < UnevenWindows::kKernels; ++i) {
    const auto idle_ns =
        static_cast<double>(file.SumUnder({"kernel_" + std::to_string(i)}, "idle_time"));
    EXPECT_NEAR(of_a_step * idle_ns, program.TrueWaitNs(i), 0.005 * program.TrueWaitNs(i)) << i;
  }
}

TEST_F(PprofExportTest, SamplesSayWhereTheyRan) {
  MakeNestedRun();
  const PprofFile file = Export();
  ASSERT_FALSE(file.samples.empty());
  const auto& labels = file.samples.front().labels;
  EXPECT_EQ(labels.at("device"), "0: Test GPU");
  EXPECT_EQ(labels.at("stream"), "7");
  EXPECT_EQ(labels.at("process"), "python3 1001");
  EXPECT_EQ(labels.at("phase"), "steady");
}

TEST_F(PprofExportTest, WhatTheReportDoesNotKnowIsNoSampleType) {
  MakeNestedRun();
  EXPECT_THAT(Export().types,
              ElementsAre("gpu_time/nanoseconds", "idle_time/nanoseconds", "launches/count"));
}

// The summary in this profile was not made from its frames.
TEST_F(PprofExportTest, CountersAreDividedByLaunches) {
  MakeProfile(profile_);
  const PprofFile file = Export();
  EXPECT_THAT(file.types, Contains("flops/count"));
  EXPECT_EQ(file.SumUnder({"gemm"}, "flops"), 1'000'000);
  EXPECT_EQ(file.Sum("flops"), 1'000'000);
  EXPECT_EQ(file.SumUnder({"gemm"}, "launches"), 2);
  EXPECT_EQ(result_.frames_refused, 1u);
  EXPECT_EQ(result_.kernels, 3u);
  EXPECT_THAT(Export(false).types, ::testing::Not(Contains("flops/count")));
}

TEST_F(PprofExportTest, NamesAreValidText) {
  MakeProfile(profile_);
  const PprofFile file = Export();
  bool found = false;
  for (const PprofFileSample& sample : file.samples) {
    found = found || sample.stack.front().function.find("</script>") != std::string::npos;
    EXPECT_EQ(sample.stack.front().function.find('\xff'), std::string::npos);
  }
  EXPECT_TRUE(found);
}

TEST_F(PprofExportTest, ATimeRangeIsRefused) {
  MakeNestedRun();
  TraceExportOptions options;
  options.from_s = 0.1;
  const auto result = ExportTrace(profile_, TraceFormat::kPprof, output_, options);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("leave --from and --to out"));
}

}  // namespace
}  // namespace utlz
