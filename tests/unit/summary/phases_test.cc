// The run's parts in order: they follow each other without a hole, and end when the run ends.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/waterfall_slices.h"
#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

std::vector<std::string> NamesOf(const Summary& summary) {
  std::vector<std::string> names;
  for (const PhaseSummary& phase : summary.phases()) names.push_back(phase.name());
  return names;
}

void ExpectNoHoles(const Summary& summary, uint64_t run_ns) {
  double at_ns = 0;
  for (const PhaseSummary& phase : summary.phases()) {
    EXPECT_EQ(phase.start_ns(), at_ns) << phase.name();
    at_ns += phase.time_ns();
  }
  EXPECT_EQ(at_ns, static_cast<double>(run_ns));
}

// Says when the agent began, which is when the program first called CUDA.
void StartProcessAt(RunBuilder* run, uint64_t after_start_ns) {
  run->StartProcess();
  Process process;
  process.set_pid(1001);
  process.set_start_time_ns(kRunStartNs + after_start_ns);
  process.add_arguments("python");
  run->Send(1, FRAME_PROCESS, process);
}

// Ten kernels of 90 µs each, `steps` times, `step_ns` apart.
void SendSteps(RunBuilder* run, uint64_t at_ns, int steps, uint64_t step_ns) {
  for (int step = 0; step < steps; ++step, at_ns += step_ns) {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < 10; ++i) {
      launches.push_back(
          RunBuilder::LaunchAt(at_ns + i * 100 * kMicrosecond, 90 * kMicrosecond, i));
    }
    run->SendLaunches(launches);
  }
}

std::vector<std::string> TenKernels() {
  std::vector<std::string> names;
  for (int i = 0; i < 10; ++i) names.push_back("kernel_" + std::to_string(i));
  return names;
}

TEST(PhasesTest, ARunWithSteps) {
  RunBuilder run;
  run.StartRun();
  StartProcessAt(&run, 30 * kMillisecond);
  run.SendKernels(TenKernels());
  run.SendKernels({"initialize"}, 1, 132, 0, 10);
  run.SendLaunches({RunBuilder::LaunchAt(40 * kMillisecond, kMillisecond, 10)});
  SendSteps(&run, 60 * kMillisecond, 4, 10 * kMillisecond);
  SendSteps(&run, 100 * kMillisecond, 50, kMillisecond);
  const Summary summary = run.EndRun(170 * kMillisecond);
  EXPECT_EQ(NamesOf(summary),
            (std::vector<std::string>{"start", "loading", "setup", "warmup", "steps", "end"}));
  ExpectNoHoles(summary, 170 * kMillisecond);
  EXPECT_EQ(summary.phases(0).time_ns(), 30.0 * kMillisecond);
  EXPECT_EQ(summary.phases(1).time_ns(), 10.0 * kMillisecond);
  EXPECT_EQ(summary.phases(3).steps(), 4);
  EXPECT_NEAR(summary.phases(3).gpu_busy_share(), 0.09, 0.005);
  EXPECT_NEAR(summary.phases(4).steps(), 50, 1);
  EXPECT_NEAR(summary.phases(4).gpu_busy_share(), 0.9, 0.01);
}

TEST(PhasesTest, ARunWithoutSteps) {
  RunBuilder run;
  run.StartRun();
  StartProcessAt(&run, 30 * kMillisecond);
  run.SendKernels(TenKernels());
  run.SendLaunches({RunBuilder::LaunchAt(40 * kMillisecond, 20 * kMillisecond, 1)});
  const Summary summary = run.EndRun(100 * kMillisecond);
  EXPECT_EQ(NamesOf(summary), (std::vector<std::string>{"start", "loading", "work", "end"}));
  ExpectNoHoles(summary, 100 * kMillisecond);
}

// Of steps of 1 ms 150 are traced and twenty more are not. Then nothing runs for 30 ms, up to the
// one launch of the last window. Where records have ended, nobody counts what is not traced.
Summary StepsThatGoOnUntraced(bool records_ended) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels(TenKernels());
  run.SendOperationCounts(0, 0, false);
  run.SendWindow(0, 0);
  SendSteps(&run, 0, 150, kMillisecond);
  run.SendWindow(0, 150 * kMillisecond);
  run.SendOperationCounts(1500, 0, records_ended);
  constexpr uint64_t kLastWindowNs = 200 * kMillisecond;
  run.SendWindow(kLastWindowNs, 0);
  run.SendLaunches({RunBuilder::LaunchAt(kLastWindowNs, 90 * kMicrosecond, 0)});
  run.SendWindow(kLastWindowNs, kLastWindowNs + 100 * kMicrosecond);
  run.SendOperationCounts(1501, records_ended ? 0 : 200, records_ended);
  return run.EndRun(kLastWindowNs + 100 * kMicrosecond);
}

double SliceNs(const Summary& summary, const char* name) {
  return SliceShare(summary, name) * summary.waterfall().total_ns();
}

TEST(PhasesTest, StepsThatWereCountedAfterTheLastTracedOneAreStepsEverywhere) {
  const Summary summary = StepsThatGoOnUntraced(false);
  ASSERT_EQ(NamesOf(summary), (std::vector<std::string>{"steps", "end"}));
  EXPECT_NEAR(summary.phases(0).steps(), 170, 2);
  EXPECT_NEAR(summary.phases(0).time_ns(), 170.0 * kMillisecond, 2.0 * kMillisecond);
  EXPECT_NEAR(SliceNs(summary, kSliceEnd), summary.phases(1).time_ns(), 1'000);
  EXPECT_NEAR(SliceNs(summary, kSliceUntraced), 20.0 * kMillisecond, 2.0 * kMillisecond);
  ExpectSlicesSumToTheWhole(summary);
  EXPECT_NEAR(summary.steps().traced_share(), 150.0 / 170, 0.01);
  EXPECT_EQ(summary.trust().find("at most"), std::string::npos) << summary.trust();
}

TEST(PhasesTest, StepsThatNobodyCountedMayHaveGoneOn) {
  const Summary summary = StepsThatGoOnUntraced(true);
  ASSERT_EQ(NamesOf(summary), (std::vector<std::string>{"steps", "untraced", "end"}));
  EXPECT_NEAR(summary.phases(0).time_ns(), 150.0 * kMillisecond, 2.0 * kMillisecond);
  EXPECT_NEAR(summary.phases(1).time_ns(), 50.0 * kMillisecond, 2.0 * kMillisecond);
  EXPECT_NEAR(SliceNs(summary, kSliceUntraced), summary.phases(1).time_ns(), 1'000);
  EXPECT_NEAR(SliceNs(summary, kSliceEnd), summary.phases(2).time_ns(), 1'000);
  ExpectSlicesSumToTheWhole(summary);
  EXPECT_EQ(summary.trust().find("at most 100.0 % of the steps' time traced"), 0u)
      << summary.trust();
}

// Of an attached process nothing is known from before: its agent began earlier than the run.
TEST(PhasesTest, AProcessThatRanBefore) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels(TenKernels());
  SendSteps(&run, 0, 50, kMillisecond);
  const Summary summary = run.EndRun(60 * kMillisecond);
  EXPECT_EQ(NamesOf(summary), (std::vector<std::string>{"steps", "end"}));
}

// Its agent was loaded during the run, which is no start of the program's.
TEST(PhasesTest, AProcessThatWasAttachedTo) {
  RunBuilder run;
  RunStart start;
  start.set_time_ns(kRunStartNs);
  start.set_attached(true);
  run.Send(0, FRAME_RUN_START, start);
  StartProcessAt(&run, 20 * kMillisecond);
  run.SendKernels(TenKernels());
  run.SendKernels({"half a step"}, 1, 132, 0, 10);
  run.SendLaunches({RunBuilder::LaunchAt(30 * kMillisecond, kMillisecond, 10)});
  SendSteps(&run, 40 * kMillisecond, 50, kMillisecond);
  const Summary summary = run.EndRun(100 * kMillisecond);
  EXPECT_EQ(NamesOf(summary), (std::vector<std::string>{"steps", "end"}));
}

}  // namespace
}  // namespace utlz
