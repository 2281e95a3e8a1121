// Runs that are traced densely at first, and then in windows shorter than a step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

constexpr uint64_t kInStep = 10;  // kernels
constexpr uint64_t kFirstSpacingNs = kMillisecond;
constexpr uint64_t kFirstSteps = 10;
constexpr uint64_t kFirstEndNs = kFirstSteps * kInStep * kFirstSpacingNs;
constexpr uint64_t kBusyNs = 500 * kMicrosecond;  // of a kernel

struct Later {
  uint64_t spacing_ns = 2 * kMillisecond;  // from kernel to kernel
  uint64_t kernels = 1000;
  uint64_t window_ns = 20 * kMillisecond;
  uint64_t period_ns = 115 * kMillisecond;  // from window to window; no multiple of a step
  uint64_t seldom = 1;    // one of so many steps has its kernels; others have another one
  uint64_t pause_ns = 0;  // in the middle of the first later window, which is as much longer
};

class DenselyAtFirst {
 public:
  explicit DenselyAtFirst(const Later& later) : later_(later) {
    run_.StartRun();
    run_.StartProcess();
    std::vector<std::string> names = KernelNames(kInStep);
    names.push_back("another");
    run_.SendKernels(names);
    run_.SendOperationCounts(recorded_, in_gaps_);
    Window(0, kFirstEndNs, 0, kFirstSteps * kInStep, kFirstSpacingNs);
    const uint64_t later_end_ns = kFirstEndNs + later.kernels * later.spacing_ns;
    for (uint64_t at_ns = kFirstEndNs + later.period_ns / 2;
         at_ns + later.window_ns <= later_end_ns; at_ns += later.period_ns) {
      // The kernels that begin in the window; those before it were launched between windows.
      const uint64_t first = (at_ns - kFirstEndNs + later.spacing_ns - 1) / later.spacing_ns;
      const uint64_t end =
          (at_ns + later.window_ns - kFirstEndNs + later.spacing_ns - 1) / later.spacing_ns;
      in_gaps_ += first - launched_;
      Window(at_ns, at_ns + later.window_ns, first, end - first, later.spacing_ns);
      launched_ = end;
    }
    in_gaps_ += later.kernels - launched_;
    run_.SendOperationCounts(recorded_, in_gaps_);
  }

  // A last window has one more kernel.
  Summary End(uint64_t after_last_ns) {
    const uint64_t end_ns = kFirstEndNs + later_.kernels * later_.spacing_ns + after_last_ns;
    TraceWindow window;
    window.set_start_ns(kRunStartNs + end_ns - kMillisecond);
    window.set_flags(1);
    run_.Send(1, FRAME_TRACE_WINDOW, window);
    run_.SendLaunches({RunBuilder::LaunchAt(end_ns - kMillisecond, kBusyNs, kInStep)});
    window.set_end_ns(kRunStartNs + end_ns);
    run_.Send(1, FRAME_TRACE_WINDOW, window);
    ++recorded_;
    run_.SendOperationCounts(recorded_, in_gaps_);
    return run_.EndRun(end_ns);
  }

 private:
  void Window(uint64_t start_ns, uint64_t end_ns, uint64_t first, uint64_t kernels,
              uint64_t spacing_ns) {
    const uint64_t origin_ns = start_ns < kFirstEndNs ? 0 : kFirstEndNs;
    const uint64_t pause_ns = origin_ns > 0 && launched_ == 0 ? later_.pause_ns : 0;
    TraceWindow window;
    window.set_start_ns(kRunStartNs + start_ns);
    window.set_flags(1);
    run_.Send(1, FRAME_TRACE_WINDOW, window);
    run_.SendOperationCounts(recorded_, in_gaps_);
    std::vector<Launch> launches;
    for (uint64_t i = first; i < first + kernels; ++i) {
      const bool other = origin_ns > 0 && i / kInStep % later_.seldom != 0;
      const uint64_t kernel = other ? kInStep : i % kInStep;
      const uint64_t delay_ns = i < first + kernels / 2 ? 0 : pause_ns;
      launches.push_back(RunBuilder::LaunchAt(origin_ns + i * spacing_ns + delay_ns, kBusyNs,
                                              static_cast<uint32_t>(kernel)));
    }
    run_.SendLaunches(launches);
    recorded_ += kernels;
    window.set_end_ns(kRunStartNs + end_ns + pause_ns);
    run_.Send(1, FRAME_TRACE_WINDOW, window);
    run_.SendOperationCounts(recorded_, in_gaps_);
  }

  Later later_;
  RunBuilder run_;
  uint64_t recorded_ = 0;
  uint64_t in_gaps_ = 0;
  uint64_t launched_ = 0;  // of the later ones
};

// 10 steps of 10 ms, all of them traced, and 100 of 20 ms.
TEST(PartlyTracedTest, LaterStepsCountWithWhatWindowsShowOfThem) {
  const Summary summary = DenselyAtFirst({}).End(kMillisecond);
  const StepsSummary& steps = summary.steps();
  EXPECT_EQ(steps.steps(), 9u) << "traced whole";
  EXPECT_NEAR(steps.time_mean_ns(), (10 * 10.0 + 100 * 20.0) / 110 * kMillisecond,
              0.3 * kMillisecond);
  EXPECT_NEAR(steps.kernel_time_ns(), 5.0 * kMillisecond, 0.1 * kMillisecond);
  ASSERT_EQ(steps.levels_size(), 1);
  EXPECT_NEAR(steps.levels(0).count(), 110, 2);
  EXPECT_EQ(summary.steady_state().scope(), "steps");
  EXPECT_GT(summary.steady_state().end_ns(), 1800.0 * kMillisecond);
  EXPECT_NEAR(IdleSlicesNs(summary), 14.1 * kMillisecond, 0.3 * kMillisecond) << "of a step";
  ExpectSlicesSumToTheWhole(summary);
}

// The program waits for 150 ms in a window, as for an evaluation on another machine.
TEST(PartlyTracedTest, PausesAreNoTimeOfStepsThatWereTracedInPart) {
  const Summary summary =
      DenselyAtFirst({.period_ns = 415 * kMillisecond, .pause_ns = 150 * kMillisecond})
          .End(kMillisecond);
  EXPECT_GT(summary.steps().pause_time_ns(), 25.0 * kMillisecond);
  EXPECT_NEAR(summary.steps().time_mean_ns(), (10 * 10.0 + 74 * 20.0) / 84 * kMillisecond,
              1.5 * kMillisecond);
  EXPECT_EQ(summary.steady_state().scope(), "steps");
  ExpectSlicesSumToTheWhole(summary);
}

// What follows the loop for as long as the loop took says nothing of its steps.
TEST(PartlyTracedTest, ALongEndIsNoPartOfTheSteps) {
  const Summary summary = DenselyAtFirst({}).End(3000 * kMillisecond);
  EXPECT_EQ(summary.steady_state().scope(), "steps");
  EXPECT_LT(summary.steady_state().end_ns(), 2200.0 * kMillisecond);
  const auto end = std::find_if(summary.phases().begin(), summary.phases().end(),
                                [](const PhaseSummary& phase) { return phase.name() == "end"; });
  ASSERT_NE(end, summary.phases().end());
  EXPECT_NEAR(end->time_ns(), 3000.0 * kMillisecond, 150.0 * kMillisecond);
}

// Parts of two steps, one at the begin and one at the end of a pause, tell nothing of those
// between.
TEST(PartlyTracedTest, LessThanTwoStepsStandForNone) {
  const Summary summary =
      DenselyAtFirst(
          {.kernels = 200, .window_ns = 16 * kMillisecond, .period_ns = 300 * kMillisecond})
          .End(kMillisecond);
  EXPECT_NEAR(summary.steps().time_mean_ns(), 10.0 * kMillisecond, 0.1 * kMillisecond);
}

// Something else may have the kernels of steps now and then: it is no longer a part of the steps.
TEST(PartlyTracedTest, WhereStepsBeginTooSeldomThereAreNone) {
  EXPECT_EQ(DenselyAtFirst({}).End(kMillisecond).steady_state().scope(), "steps");
  EXPECT_EQ(DenselyAtFirst({.seldom = 4}).End(kMillisecond).steady_state().scope(), "run");
}

// Steps of a millisecond, each of which replays a graph. At every twentieth step another stream
// replays a small graph for each of the next twenty.
class TwoStreams {
 public:
  static constexpr uint64_t kAhead = 20;

  TwoStreams() {
    run_.StartRun();
    run_.StartProcess();
    run_.SendKernels({"large", "small"});
  }

  void Trace(uint64_t first, uint64_t end) {
    in_gaps_ += 2 * (first - steps_);
    run_.SendWindow(first * kMillisecond, 0);
    run_.SendOperationCounts(recorded_, in_gaps_);
    for (uint64_t step = first; step < end; ++step) {
      const uint64_t at_ns = step * kMillisecond;
      Replay(1, RunBuilder::LaunchAt(at_ns, 900 * kMicrosecond, 0));
      for (uint64_t i = 0; step % kAhead == 0 && i < kAhead; ++i) {
        Replay(2, RunBuilder::LaunchAt(at_ns + (10 + i) * kMicrosecond, kMicrosecond / 2, 1));
      }
    }
    steps_ = end;
    run_.SendWindow(first * kMillisecond, end * kMillisecond);
    run_.SendOperationCounts(recorded_, in_gaps_);
  }

  Summary End() { return run_.EndRun(steps_ * kMillisecond); }

 private:
  void Replay(uint32_t stream, const Launch& kernel) {
    run_.SendLaunches({kernel}, 1, stream, ++recorded_);
  }

  RunBuilder run_;
  uint64_t steps_ = 0;
  uint32_t recorded_ = 0;
  uint64_t in_gaps_ = 0;
};

TEST(PartlyTracedTest, StepsHaveOperationsThatAnotherStreamRanForManyOfThem) {
  TwoStreams program;
  program.Trace(0, 400);
  program.Trace(1000, 1100);
  const Summary summary = program.End();
  ASSERT_GT(summary.steps().levels_size(), 0);
  EXPECT_NEAR(summary.steps().levels(0).count(), 1100, 40);
}

}  // namespace
}  // namespace utlz
