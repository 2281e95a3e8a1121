// Launches and copies whose times cannot be true: of another year, or longer than they may be.
#include <gtest/gtest.h>

#include <vector>

#include "collector/run/run_intake.h"
#include "collector/summarize/summary_builder.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

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

}  // namespace
}  // namespace utlz
