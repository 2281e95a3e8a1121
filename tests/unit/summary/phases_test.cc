// The run's parts in order: they follow each other without a hole, and end when the run ends.
#include <gtest/gtest.h>

#include <string>
#include <vector>

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
