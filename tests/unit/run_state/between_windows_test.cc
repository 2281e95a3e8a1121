// How many launches a run had between the windows in which it was traced.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/run/run_intake.h"
#include "collector/summarize/summary_builder.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

using Build = RunBuilder;

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
  TraceWindow window;
  window.set_flags(1);
  run.SendOperationCounts(0, 0);
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
    run.SendOperationCounts(start_ns == 0 ? 301 : 401, start_ns == 0 ? 0 : 600);
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

}  // namespace
}  // namespace utlz
