// Step times, HFU and MFU of each process of a run.
#include "collector/metrics/process_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/metrics/run_metrics.h"
#include "collector/steps/step_summary.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kKernelsOfAStep = 5;

class ProcessProgressTest : public ::testing::Test {
 protected:
  ProcessProgressTest() { run_.StartRun(); }

  void StartProcess(uint32_t source, char gpu) {
    run_.StartProcess(source, RunBuilder::Uuid(gpu));
    run_.SendKernels(
        {"_Z4gemmPfPKfS1_i", "_Z3addPfPKfi", "_Z3mulPfPKfi", "_Z3sumPfPKfi", "_Z3maxPfPKfi"},
        source);
  }

  // Launches all kernels, one after the other, once in a step.
  void RunSteps(uint32_t source, uint64_t second, uint64_t step_ms, uint64_t offset_ms = 0) {
    std::vector<Launch> launches;
    for (uint64_t begin_ms = offset_ms; begin_ms < 1000; begin_ms += step_ms) {
      for (uint64_t i = 0; i < kKernelsOfAStep; ++i) {
        launches.push_back(RunBuilder::LaunchAt((1000 * second + begin_ms + 2 * i) * kMillisecondNs,
                                                kMillisecondNs, static_cast<uint32_t>(i)));
      }
    }
    run_.SendLaunches(launches, source);
  }

  // Records of others are put in order as far as all that live were heard of.
  void SendStatus(uint32_t source, uint64_t second) {
    AgentStatus status;
    status.set_time_ns(kRunStartNs + 1000 * (second + 1) * kMillisecondNs);
    run_.Send(source, FRAME_AGENT_STATUS, status);
  }

  const RunState& Renew() {
    const RunState& run_state = run_.intake().Advance();
    Summary summary;
    const auto span = SummarizeSteps(run_state, &summary);
    progress_.Update(run_state, summary.steps(), span);
    return run_state;
  }

  double StepSeconds(uint32_t source) { return progress_.StepSeconds(source).value_or(-1); }

  RunBuilder run_;
  ProcessProgress progress_;
};

TEST_F(ProcessProgressTest, EachProcessHasItsOwnSteps) {
  StartProcess(1, 'A');
  StartProcess(2, 'B');
  for (uint64_t second = 0; second < 10; ++second) {
    RunSteps(1, second, 100);
    RunSteps(2, second, 50);
    Renew();
  }
  EXPECT_NEAR(StepSeconds(1), 0.1, 0.002);
  EXPECT_NEAR(StepSeconds(2), 0.05, 0.001);
  EXPECT_EQ(StepSeconds(3), -1);
}

TEST_F(ProcessProgressTest, AProcessThatWorksAloneHasTheStepsOfItsRun) {
  StartProcess(1, 'A');
  StartProcess(2, 'B');  // and does nothing there
  JobProgress job;
  for (uint64_t second = 0; second < 10; ++second) {
    RunSteps(1, second, 100);
    SendStatus(2, second);
    const RunState& run_state = Renew();
    Summary summary;
    const auto span = SummarizeSteps(run_state, &summary);
    job.Update(run_state, summary.steps(), span);
  }
  const auto of_job = job.StepSeconds();
  ASSERT_TRUE(of_job.has_value());
  EXPECT_EQ(StepSeconds(1), *of_job);
  EXPECT_EQ(StepSeconds(2), -1);
}

// Together their launches look like steps of half the length.
TEST_F(ProcessProgressTest, OnAGpuThatTheyShareEachHasItsOwnSteps) {
  StartProcess(1, 'A');
  StartProcess(2, 'A');
  for (uint64_t second = 0; second < 10; ++second) {
    RunSteps(1, second, 100);
    RunSteps(2, second, 100, 50);
    Renew();
  }
  EXPECT_NEAR(StepSeconds(1), 0.1, 0.002);
  EXPECT_NEAR(StepSeconds(2), 0.1, 0.002);
}

TEST_F(ProcessProgressTest, StepsOfProcessesWhoseKernelsRunAtOnceAreToldApart) {
  StartProcess(1, 'A');
  StartProcess(2, 'A');
  for (uint64_t second = 0; second < 20; ++second) {
    RunSteps(1, second, 100);
    RunSteps(2, second, 34);
    Renew();
  }
  EXPECT_NEAR(StepSeconds(1), 0.1, 0.002);
  EXPECT_NEAR(StepSeconds(2), 1.0 / 30, 0.001);
}

TEST_F(ProcessProgressTest, StepsOfAnotherThatBeginsLaterAreToldApart) {
  StartProcess(1, 'A');
  StartProcess(2, 'A');
  for (uint64_t second = 0; second < 40; ++second) {
    RunSteps(1, second, 100);
    if (second >= 10) RunSteps(2, second, 50, 5);
    SendStatus(2, second);
    Renew();
  }
  EXPECT_NEAR(StepSeconds(1), 0.1, 0.002);
  EXPECT_NEAR(StepSeconds(2), 0.05, 0.001);
}

TEST_F(ProcessProgressTest, AFewLaunchesOfAnotherDoNoHarm) {
  StartProcess(1, 'A');
  StartProcess(2, 'B');
  StartProcess(3, 'A');
  for (uint64_t second = 0; second < 20; ++second) {
    RunSteps(1, second, 50);
    RunSteps(2, second, 50);
    if (second == 0) RunSteps(3, second, 500);
    SendStatus(3, second);
    Renew();
  }
  EXPECT_NEAR(StepSeconds(1), 0.05, 0.001);
  EXPECT_EQ(StepSeconds(3), -1);
}

TEST_F(ProcessProgressTest, MetricsAreOfProcessesThatLive) {
  StartProcess(1, 'A');
  StartProcess(2, 'B');
  RunMetrics metrics;
  MetricsSnapshot snapshot;
  for (uint64_t second = 0; second < 10; ++second) {
    RunSteps(1, second, 100);
    RunSteps(2, second, 50);
    metrics.RenewSteps(run_.intake().Advance());
    snapshot = metrics.Take(run_.intake().Advance(), {});
  }
  const auto& steps = snapshot.Of(Metric::kProcessStepSeconds);
  ASSERT_THAT(steps, SizeIs(2));
  EXPECT_EQ(LabelOf(steps[0], "pid"), "1001");
  EXPECT_NEAR(steps[0].value, 0.1, 0.002);
  EXPECT_EQ(LabelOf(steps[1], "pid"), "1002");
  EXPECT_NEAR(steps[1].value, 0.05, 0.001);
  EXPECT_EQ(steps[1].labels.size(), snapshot.Of(Metric::kOperations)[1].labels.size());
  EXPECT_THAT(snapshot.Of(Metric::kProcessHfu), IsEmpty()) << "nothing was counted";
  EXPECT_THAT(snapshot.Of(Metric::kProcessMfu), IsEmpty());
  EXPECT_THAT(snapshot.Of(Metric::kGpuBusy), SizeIs(2));
  ProcessEnd end;
  end.set_time_ns(kRunStartNs + 10'000 * kMillisecondNs);
  run_.Send(2, FRAME_PROCESS_END, end);
  metrics.RenewSteps(run_.intake().Advance());
  snapshot = metrics.Take(run_.intake().Advance(), {});
  ASSERT_THAT(snapshot.Of(Metric::kProcessStepSeconds), SizeIs(1));
  EXPECT_EQ(LabelOf(snapshot.Of(Metric::kProcessStepSeconds)[0], "pid"), "1001");
  EXPECT_THAT(snapshot.Of(Metric::kGpuBusy), SizeIs(1));
  EXPECT_THAT(snapshot.Of(Metric::kOperations), SizeIs(2)) << "what it counted stays";
}

}  // namespace
}  // namespace utlz
