#include "collector/run/run_intake.h"

#include <gtest/gtest.h>

#include "collector/summarize/summary_builder.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

using Build = RunBuilder;

const KernelSummary* Find(const Summary& summary, const std::string& short_name) {
  for (const KernelSummary& kernel : summary.kernels()) {
    if (kernel.short_name() == short_name) return &kernel;
  }
  return nullptr;
}

TEST(RunIntakeTest, TellsTimesOfKernels) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"gemm", "relu"});
  run.SendLaunches({Build::LaunchAt(1000, 500, 0), Build::LaunchAt(2000, 100, 1),
                    Build::LaunchAt(3000, 700, 0)});
  run.EndProcess();
  const Summary summary = run.EndRun(10'000);

  EXPECT_EQ(summary.schema(), "utlz.report/1");
  EXPECT_EQ(summary.run().wall_ns(), 10'000u);
  EXPECT_EQ(summary.run().exit_status(), 0);
  ASSERT_EQ(summary.kernels_size(), 2);
  const KernelSummary& gemm = summary.kernels(0);
  EXPECT_EQ(gemm.name(), "gemm");
  EXPECT_EQ(gemm.launches(), 2u);
  EXPECT_EQ(gemm.time_ns(), 1200);
  EXPECT_EQ(gemm.time_mean_ns(), 600);
  EXPECT_EQ(gemm.time_minimum_ns(), 500);
  EXPECT_EQ(gemm.time_maximum_ns(), 700);
  EXPECT_NEAR(gemm.time_share(), 1200.0 / 1300, 1e-12);
  EXPECT_FALSE(gemm.has_flops());
  EXPECT_FALSE(gemm.has_dram_bytes());
  EXPECT_FALSE(gemm.has_estimated_savings_ns());
  EXPECT_EQ(gemm.bound(), BOUND_UNKNOWN);
  ASSERT_EQ(gemm.grid_size(), 3);
  EXPECT_EQ(gemm.grid(0), 132u);
  ASSERT_EQ(summary.devices_size(), 1);
  EXPECT_EQ(summary.devices(0).uuid(), "GPU-41414141-4141-4141-4141-414141414141");
  EXPECT_EQ(summary.devices(0).steady_state_ns(), 2700u);
  EXPECT_EQ(summary.devices(0).kernel_time_ns(), 1300u);
  EXPECT_EQ(summary.devices(0).idle_time_ns(), 1400u);
  EXPECT_NEAR(summary.devices(0).gpu_busy_share(), 1300.0 / 2700, 1e-12);
  EXPECT_FALSE(summary.devices(0).has_sm_active_share());
  EXPECT_EQ(summary.devices(0).source(), SOURCE_TIME_ONLY);
  EXPECT_EQ(summary.capture().frames_refused(), 0u);
}

TEST(RunIntakeTest, OverlapCountsOnceInBusyTimeAndTwiceInKernelSums) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a"});
  run.SendLaunches({Build::LaunchAt(0, 1000)}, 1, 7);
  run.SendLaunches({Build::LaunchAt(500, 1000)}, 1, 8);
  const Summary summary = run.EndRun(10'000);
  EXPECT_EQ(summary.devices(0).kernel_time_ns(), 1500u);
  EXPECT_EQ(summary.kernels(0).time_ns(), 2000);
  ASSERT_EQ(summary.streams_size(), 2);
  EXPECT_EQ(summary.streams(0).kernel_time_ns(), 1000u);
}

TEST(RunIntakeTest, JoinsDevicesOfProcessesByUuidWhateverTheirOrdinals) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess(1, Build::Uuid('A'), 0);
  run.StartProcess(2, Build::Uuid('A'), 3);
  run.StartProcess(3, Build::Uuid('B'), 0);
  for (uint32_t source = 1; source <= 3; ++source) {
    run.SendKernels({"a"}, source);
    run.SendLaunches({Build::LaunchAt(1000 * source, 1000)}, source);
  }
  const Summary summary = run.EndRun(10'000);
  ASSERT_EQ(summary.devices_size(), 2);
  EXPECT_EQ(summary.devices(0).kernel_time_ns(), 2000u);
  EXPECT_EQ(summary.devices(1).kernel_time_ns(), 1000u);
  ASSERT_EQ(summary.kernels_size(), 2) << "one kernel a device";
  EXPECT_EQ(summary.kernels(0).launches(), 2u);
  EXPECT_EQ(summary.kernels(0).pids_size(), 2);
  EXPECT_EQ(summary.processes_size(), 3);
}

TEST(RunIntakeTest, PoolsGraphNodesOfOneFunctionAndShape) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a", "a", "a"}, 1, 132, 50);
  run.SendLaunches(
      {Build::LaunchAt(0, 10, 0), Build::LaunchAt(20, 10, 1), Build::LaunchAt(40, 10, 2)});
  const Summary summary = run.EndRun(10'000);
  ASSERT_EQ(summary.kernels_size(), 1);
  EXPECT_TRUE(summary.kernels(0).graph());
  EXPECT_EQ(summary.kernels(0).graph_nodes(), 3u);
  EXPECT_EQ(summary.kernels(0).launches(), 3u);
}

TEST(RunIntakeTest, CountsUntimedAndDroppedLaunches) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a"});
  DecodedLaunches decoded;
  decoded.untimed.push_back({0, 5});
  run.Send(1, FRAME_LAUNCHES, EncodeLaunches(decoded));
  AgentStatus status;
  status.set_launches_dropped_ring(9);
  run.Send(1, FRAME_AGENT_STATUS, status);
  const Summary summary = run.EndRun(10'000);
  EXPECT_EQ(summary.capture().launches(), 5u);
  EXPECT_EQ(summary.capture().launches_untimed(), 5u);
  EXPECT_EQ(summary.capture().launches_dropped(), 9u);
  ASSERT_EQ(summary.kernels_size(), 1);
  EXPECT_EQ(summary.kernels(0).launches(), 5u);
  EXPECT_FALSE(summary.kernels(0).has_time_ns()) << "unknown, not zero";
}

TEST(RunIntakeTest, TellsExposedCopiesFromHiddenOnes) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a"});
  run.SendLaunches({Build::LaunchAt(0, 1000)});
  run.SendCopy(COPY_HOST_TO_DEVICE, 500, 1000, 4'000'000);
  run.SendCopy(COPY_HOST_TO_DEVICE, 2000, 300, 1000, true);
  const Summary summary = run.EndRun(10'000);
  ASSERT_EQ(summary.copies_size(), 2);
  EXPECT_EQ(summary.copies(0).kind(), "host to device");
  EXPECT_FALSE(summary.copies(0).pageable());
  EXPECT_EQ(summary.copies(0).bytes(), 4'000'000u);
  EXPECT_EQ(summary.copies(0).time_ns(), 1000u);
  EXPECT_EQ(summary.copies(0).exposed_ns(), 500u);
  EXPECT_TRUE(summary.copies(1).pageable());
  EXPECT_EQ(summary.copies(1).exposed_ns(), 300u);
  EXPECT_EQ(summary.devices(0).copy_time_ns(), 800u);
}

TEST(RunIntakeTest, OrdersRecordsThatComeLate) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a"});
  run.SendLaunches({Build::LaunchAt(5000, 1000)});
  run.SendLaunches({Build::LaunchAt(1000, 1000)});
  run.SendLaunches({Build::LaunchAt(3000, 1000)});
  const Summary summary = run.EndRun(10'000);
  EXPECT_EQ(summary.devices(0).kernel_time_ns(), 3000u);
  EXPECT_EQ(summary.devices(0).idle_time_ns(), 2000u);
}

TEST(RunIntakeTest, SummarizesAtAnyTime) {
  RunBuilder run;
  EXPECT_EQ(Summarize(run.intake().Advance()).kernels_size(), 0);
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a"});
  run.SendLaunches({Build::LaunchAt(0, 1000)});
  const Summary live = Summarize(run.intake().Advance());
  EXPECT_FALSE(live.run().finished());
  ASSERT_EQ(live.kernels_size(), 1);
  EXPECT_EQ(live.kernels(0).time_ns(), 1000);
  run.SendLaunches({Build::LaunchAt(5000, 1000)});
  const Summary end = run.EndRun(10'000);
  EXPECT_TRUE(end.run().finished());
  EXPECT_EQ(end.kernels(0).launches(), 2u);
  EXPECT_EQ(end.devices(0).kernel_time_ns(), 2000u);
}

TEST(RunIntakeTest, PlacesTheLastRecordsOfARunWithoutAnEnd) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a"});
  run.SendLaunches({Build::LaunchAt(0, 1000)});
  run.intake().EndOfInput();
  EXPECT_EQ(Summarize(run.intake().Advance()).devices(0).kernel_time_ns(), 1000u);
}

TEST(RunIntakeTest, NamesKernelsWhoseNamesWereLost) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendLaunches({Build::LaunchAt(0, 1000, 44)});
  const Summary summary = run.EndRun(10'000);
  ASSERT_EQ(summary.kernels_size(), 1);
  EXPECT_NE(Find(summary, "(unknown kernel)"), nullptr);
}

TEST(RunIntakeTest, KeepsShortNamesApart) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"gemm"}, 1, 132);
  run.SendLaunches({Build::LaunchAt(0, 1000)});
  run.StartProcess(2);
  run.SendKernels({"gemm"}, 2, 64);
  run.SendLaunches({Build::LaunchAt(2000, 500)}, 2);
  const Summary summary = run.EndRun(10'000);
  EXPECT_NE(Find(summary, "gemm [132,1,1]"), nullptr);
  EXPECT_NE(Find(summary, "gemm [64,1,1]"), nullptr);
}

TEST(RunIntakeTest, EstimatesWhatTracingCost) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a"});
  std::vector<Launch> launches;
  for (uint64_t i = 0; i < 1000; ++i) launches.push_back(RunBuilder::LaunchAt(i * 1000, 500));
  run.SendLaunches(launches);
  AgentStatus status;
  status.set_time_ns(kRunStartNs + 900'000'000);
  status.set_launches_recorded(1000);
  status.set_agent_thread_cpu_ns(1'500'000);
  run.Send(1, FRAME_AGENT_STATUS, status);
  const double by_launches = run.EndRun(1'000'000'000).processes(0).agent_cost_share();
  EXPECT_NEAR(by_launches, 1000 * 1.15e-6 + 1.5e-3, 1e-6);
  status.set_tracing_cost_ns(8'150'000);
  run.Send(1, FRAME_AGENT_STATUS, status);
  const double by_account = Summarize(run.intake().Advance()).processes(0).agent_cost_share();
  EXPECT_NEAR(by_account, 8.15e-3 + 1.5e-3, 1e-6) << "the agent's own account";
}

}  // namespace
}  // namespace utlz
