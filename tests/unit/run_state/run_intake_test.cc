#include "collector/run/run_intake.h"

#include <gtest/gtest.h>

#include <map>

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

TEST(RunIntakeTest, ScalesToTheRunWhereTracingWasInWindows) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a"});
  const auto window = [&](uint64_t start_ns, std::optional<uint64_t> end_ns) {
    TraceWindow message;
    message.set_start_ns(kRunStartNs + start_ns);
    if (end_ns.has_value()) message.set_end_ns(kRunStartNs + *end_ns);
    message.set_flags(1);
    run.Send(1, FRAME_TRACE_WINDOW, message);
  };
  window(0, std::nullopt);
  run.SendLaunches({Build::LaunchAt(0, 500), Build::LaunchAt(500, 500)});
  window(0, 1000);
  window(4000, std::nullopt);
  run.SendLaunches({Build::LaunchAt(4000, 500), Build::LaunchAt(4500, 500)});
  window(4000, 5000);
  const Summary summary = run.EndRun(5000);
  ASSERT_EQ(summary.kernels_size(), 1);
  EXPECT_EQ(summary.kernels(0).launches_traced(), 4u);
  EXPECT_EQ(summary.kernels(0).launches(), 10u);
  EXPECT_NEAR(summary.kernels(0).time_ns(), 5000, 1e-6);
  EXPECT_NEAR(summary.capture().coverage_share(), 0.4, 1e-12);
  EXPECT_NEAR(summary.devices(0).gpu_busy_share(), 1.0, 1e-12) << "untraced time is not idle time";
}

// Four whole replays of three nodes and a fifth that the window's end cuts, in each of two windows,
// and 50 replays between them. `timed`: nodes of the cut one that have times.
Summary WithCutReplays(uint32_t timed) {
  constexpr uint32_t kNodes = 3, kReplays = 4, kBetween = 50, kNodeNs = 10'000;
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"node"}, 1, 132, 100);
  uint64_t now = 0;
  uint32_t number = 0, recorded = 0, in_gaps = 0;
  const auto tell = [&] {
    AgentStatus status;
    status.set_operations_recorded(recorded);
    status.set_operations_numbered(number);
    status.set_operations_in_gaps(in_gaps);
    run.Send(1, FRAME_AGENT_STATUS, status);
  };
  for (int i = 0; i < 2; ++i) {
    tell();
    TraceWindow window;
    window.set_flags(1);
    window.set_start_ns(kRunStartNs + now);
    run.Send(1, FRAME_TRACE_WINDOW, window);
    if (i > 0) number += kBetween, in_gaps += kBetween;
    for (uint32_t replay = 0; replay <= kReplays; ++replay) {
      ++number, ++recorded;
      std::vector<Launch> nodes;
      for (uint32_t node = 0; node < (replay < kReplays ? kNodes : timed); ++node, now += kNodeNs) {
        nodes.push_back(RunBuilder::LaunchAt(now, kNodeNs - 1000));
      }
      if (!nodes.empty()) run.SendLaunches(nodes, 1, 7, number);
    }
    window.set_end_ns(kRunStartNs + now);
    run.Send(1, FRAME_TRACE_WINDOW, window);
    DecodedLaunches cut;
    if (timed < kNodes) cut.untimed.push_back({0, kNodes - timed});
    cut.untimed_operations = timed == 0 ? 1 : 0;
    run.Send(1, FRAME_LAUNCHES, EncodeLaunches(cut));
    now += uint64_t{kBetween} * kNodes * kNodeNs;
  }
  tell();
  run.EndProcess();
  return run.EndRun(now);
}

TEST(RunIntakeTest, OneBatchMayHoldMoreThanASliceOfAWindow) {
  constexpr uint64_t kLaunchNs = 10'000'000, kSecond = 1'000'000'000;
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"first", "second", "last"});
  const auto tell = [&](uint32_t recorded, uint32_t in_gaps) {
    AgentStatus status;
    status.set_operations_recorded(recorded);
    status.set_operations_numbered(recorded + in_gaps);
    status.set_operations_in_gaps(in_gaps);
    run.Send(1, FRAME_AGENT_STATUS, status);
  };
  TraceWindow window;
  window.set_flags(1);
  tell(0, 0);
  for (const uint64_t start_ns : {uint64_t{0}, 9 * kSecond}) {
    window.set_start_ns(kRunStartNs + start_ns);
    window.set_end_ns(0);
    run.Send(1, FRAME_TRACE_WINDOW, window);
    std::vector<Launch> launches;
    const uint32_t count = start_ns == 0 ? 300 : 100;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t kernel = start_ns == 0 && i < 100 ? 0 : 1;
      launches.push_back(RunBuilder::LaunchAt(start_ns + i * kLaunchNs, kLaunchNs / 2, kernel));
    }
    run.SendLaunches(launches);
    // One of another stream, right before the gap.
    if (start_ns == 0) run.SendLaunches({RunBuilder::LaunchAt(2'990'000'000, 1000, 2)}, 1, 8);
    window.set_end_ns(kRunStartNs + start_ns + count * kLaunchNs);
    run.Send(1, FRAME_TRACE_WINDOW, window);
    tell(start_ns == 0 ? 301 : 401, start_ns == 0 ? 0 : 600);
  }
  run.EndProcess();
  const Summary summary = run.EndRun(10 * kSecond);
  // Beside the gap: 50 of the last half second, the one, and 50 of the next window's first half.
  const std::map<std::string, double> expected = {
      {"first", 100}, {"second", 300 + 600 * 100 / 101.0}, {"last", 1 + 600 / 101.0}};
  for (const KernelSummary& kernel : summary.kernels()) {
    EXPECT_NEAR(static_cast<double>(kernel.launches()), expected.at(kernel.name()), 0.51)
        << kernel.name();
  }
}

TEST(RunIntakeTest, ReplaysThatAWindowsEndCutsCountWhole) {
  for (uint32_t timed = 0; timed <= 3; ++timed) {
    const Summary summary = WithCutReplays(timed);
    ASSERT_EQ(summary.kernels_size(), 1);
    EXPECT_EQ(summary.kernels(0).launches(), (2 * 5 + 50) * 3u) << timed << " nodes with times";
  }
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

TEST(RunIntakeTest, CountsRefusedFramesAndGoesOn) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a"});
  for (uint16_t type = FRAME_PROCESS; type <= FRAME_PROCESS_END; ++type) {
    run.intake().Consume(1, type, "\xff\xff\xff\xff");
  }
  run.intake().Consume(0, 12345, "an unknown type is skipped");
  run.SendLaunches({Build::LaunchAt(0, 1000)});
  const Summary summary = run.EndRun(10'000);
  EXPECT_GE(summary.capture().frames_refused(), 10u);
  ASSERT_EQ(summary.kernels_size(), 1);
  EXPECT_EQ(summary.kernels(0).launches(), 1u);
}

TEST(RunIntakeTest, AcceptsNoTargetThatSpeaksForTheSampler) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a"});
  run.SendLaunches({Build::LaunchAt(0, 1000)});
  DevicePeaks peaks;
  peaks.set_device_uuid(Build::Uuid());
  peaks.set_dram_bytes_per_second(1);
  run.Send(1, FRAME_DEVICE_PEAKS, peaks);
  RunEnd end;
  run.Send(1, FRAME_RUN_END, end);
  const Summary summary = Summarize(run.intake().Advance());
  EXPECT_FALSE(summary.run().finished());
  EXPECT_FALSE(summary.devices(0).has_peak_dram_bytes_per_second());
  EXPECT_EQ(summary.capture().frames_refused(), 2u);
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

// Replays of a graph of three nodes; in the last one before tracing pauses, `late_ns` is added to
// the ends of the last two.
Summary WithLateEnds(uint64_t late_ns, const char* name = "node") {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({name}, 1, 132, 100);
  const auto window = [&](uint64_t start_ns, uint64_t end_ns) {
    TraceWindow message;
    message.set_flags(1);
    message.set_start_ns(kRunStartNs + start_ns);
    message.set_end_ns(kRunStartNs + end_ns);
    run.Send(1, FRAME_TRACE_WINDOW, message);
  };
  uint64_t now = 0;
  for (uint32_t replay = 1; replay <= 10; ++replay) {
    std::vector<Launch> launches;
    for (int i = 0; i < 3; ++i, now += 10'000) {
      launches.push_back(RunBuilder::LaunchAt(now, 9'000 + (replay == 10 && i > 0 ? late_ns : 0)));
    }
    if (replay == 10) window(0, now);
    run.SendLaunches(launches, 1, 7, replay);
  }
  window(now + 100'000'000, now + 100'000'000);
  run.EndProcess();
  return run.EndRun(now + 200'000'000);
}

TEST(RunIntakeTest, CountsLaunchesWhoseTimesCannotBeTrue) {
  const Summary summary = WithLateEnds(40'000'000);
  EXPECT_EQ(summary.capture().launches_implausible(), 2u);
  EXPECT_EQ(summary.capture().launches_untimed(), 2u);
  EXPECT_EQ(summary.capture().launches(), 30u) << "they ran all the same";
  EXPECT_LT(summary.kernels(0).time_maximum_ns(), 10'000) << "no kernel is longer than the run";
  const Summary slow = WithLateEnds(500'000);
  EXPECT_FALSE(slow.capture().has_launches_implausible()) << "half a millisecond may happen";
  EXPECT_EQ(slow.capture().launches_untimed(), 0u);
  const Summary waiting = WithLateEnds(40'000'000, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  EXPECT_FALSE(waiting.capture().has_launches_implausible()) << "it may wait for others";
}

// A kernel and a copy of 1 µs in each of ten milliseconds, and one of both at `odd_ns` after the
// start.
Summary WithOneAt(uint64_t odd_ns) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"gemm"});
  const auto work = [&](uint64_t at_ns) {
    run.SendLaunches({RunBuilder::LaunchAt(at_ns, 1000)});
    run.SendCopy(COPY_HOST_TO_DEVICE, at_ns + 2000, 1000, 64);
  };
  for (uint64_t i = 0; i < 10; ++i) work(i * 1'000'000);
  work(odd_ns);
  run.EndProcess();
  return run.EndRun(20'000'000);
}

TEST(RunIntakeTest, LeavesOutLaunchesAndCopiesOfAnotherTime) {
  constexpr uint64_t kYearNs = 31'536'000'000'000'000;
  const Summary usual = WithOneAt(10'000'000);
  EXPECT_FALSE(usual.capture().has_copies_implausible());
  EXPECT_EQ(usual.copies(0).copies(), 11u);
  for (const uint64_t odd_ns : {5 - kRunStartNs, 0 - kYearNs, kYearNs}) {
    const Summary summary = WithOneAt(odd_ns);
    EXPECT_EQ(summary.capture().launches_implausible(), 1u);
    EXPECT_EQ(summary.capture().copies_implausible(), 1u);
    EXPECT_EQ(summary.copies(0).copies(), 10u);
    EXPECT_LT(summary.devices(0).steady_state_ns(), 20'000'000u);
  }
}

// Replays of a graph of two nodes, a millisecond apart; in the fourth the first node lies `odd_ns`
// from where it ran.
Summary OfAGraph(uint64_t odd_ns) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"first", "second"}, 1, 132, 100);
  for (uint32_t replay = 0; replay < 20; ++replay) {
    const uint64_t at_ns = replay * 1'000'000;
    run.SendLaunches({RunBuilder::LaunchAt(at_ns + (replay == 3 ? odd_ns : 0), 400'000, 0),
                      RunBuilder::LaunchAt(at_ns + 500'000, 400'000, 1)},
                     1, 7, replay + 1);
  }
  run.EndProcess();
  return run.EndRun(20'000'000);
}

TEST(RunIntakeTest, NodesOfAnotherTimeBeginNoStep) {
  constexpr uint64_t kYearNs = 31'536'000'000'000'000;
  const Summary usual = OfAGraph(0);
  ASSERT_GT(usual.steps().steps(), 10u);
  for (const uint64_t odd_ns : {0 - kYearNs, kYearNs}) {
    const Summary summary = OfAGraph(odd_ns);
    EXPECT_EQ(summary.capture().launches_implausible(), 1u);
    EXPECT_EQ(summary.steps().steps(), usual.steps().steps());
    EXPECT_EQ(summary.steps().source(), "graph");
    for (const double time_ns : summary.steps().time_ns()) {
      EXPECT_LE(time_ns, 1'500'000) << "of that before the one that lacks a node";
    }
  }
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
