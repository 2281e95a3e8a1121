// Steps: where they come from, what is in them, and what differs in slow ones.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "collector/timeline/step_finder.h"
#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

using Build = RunBuilder;

TEST(StepsTest, FindsStepsInRepeatingLaunches) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  SendLoop(&run, 50, 100 * kMicrosecond, kMicrosecond);
  const Summary summary = run.EndRun(60 * kMillisecond);
  EXPECT_EQ(summary.steps().source(), "pattern");
  EXPECT_EQ(summary.steps().steps(), 49u);
  EXPECT_NEAR(summary.steps().time_mean_ns(), 1010.0 * kMicrosecond, 1);
  EXPECT_EQ(summary.steps().launches(), 10);
  EXPECT_EQ(summary.steps().slow_size(), 0);
  ExpectSlicesSumToTheWhole(summary);
}

// The notices of a loop of 60 steps, of which each is followed by `pause_ns(step)`.
std::string NoticesOf(const std::function<uint64_t(uint64_t)>& pause_ns) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels(KernelNames(10));
  uint64_t now = 0;
  for (uint64_t step = 0; step < 60; ++step) {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < 10; ++i) {
      launches.push_back(RunBuilder::LaunchAt(now, 100 * kMicrosecond, i));
      now += 101 * kMicrosecond;
    }
    run.SendLaunches(launches);
    now += pause_ns(step);
  }
  const Summary summary = run.EndRun(now);
  std::string text;
  for (const std::string& notice : summary.run().notices()) text += notice + "\n";
  return text;
}

TEST(StepsTest, SaysThatStepsBecomeLonger) {
  const std::string growing = NoticesOf([](uint64_t step) { return 4 * step * kMicrosecond; });
  EXPECT_NE(growing.find("Steps become longer: 1.04 ms in the first quarter, 1.22 ms in the last"),
            std::string::npos)
      << growing;
  const std::string uneven =
      NoticesOf([](uint64_t step) { return step * step * 7919 % 17 * 20 * kMicrosecond; });
  EXPECT_EQ(uneven.find("Steps become longer"), std::string::npos) << uneven;
  const std::string once =
      NoticesOf([](uint64_t step) { return step < 50 ? 0 : 200 * kMicrosecond; });
  EXPECT_EQ(once.find("Steps become longer"), std::string::npos) << once;
}

TEST(StepsTest, NamesSlowStepsAndWhatDiffered) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a", "b", "c", "d", "e"});
  uint64_t now = 0;
  for (int step = 0; step < 30; ++step) {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < 5; ++i) {
      const uint64_t busy = step == 20 ? 300 : 100;
      launches.push_back(Build::LaunchAt(now, busy * kMicrosecond, i));
      now += (busy + 1) * kMicrosecond;
    }
    run.SendLaunches(launches);
    if (step == 10) now += 2 * kMillisecond;
    if (step == 0) now += 5 * kMillisecond;
  }
  const Summary summary = run.EndRun(100 * kMillisecond);
  EXPECT_EQ(summary.steps().warmup_steps(), 1u);
  ASSERT_EQ(summary.steps().slow_size(), 2);
  EXPECT_EQ(summary.steps().slow(0), 10u);
  EXPECT_NE(summary.steps().slow_reason(0).find("no kernel ran"), std::string::npos);
  EXPECT_EQ(summary.steps().slow(1), 20u);
  EXPECT_NE(summary.steps().slow_reason(1).find("kernels took"), std::string::npos);
}

TEST(StepsTest, PrefersStepsThatTheProgramNames) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  Strings strings;
  strings.set_first(100);
  for (int i = 0; i < 6; ++i) strings.add_values("train step #" + std::to_string(i));
  strings.add_values("optimizer.step");
  run.Send(1, FRAME_STRINGS, strings);
  MarkerBatch markers;
  markers.set_base_ns(kRunStartNs);
  for (uint32_t i = 0; i < 6; ++i) {
    for (const uint32_t name : {100 + i, 106u}) {
      markers.add_start_delta_ns(name == 106 ? 0 : static_cast<int64_t>(10 * kMillisecond));
      markers.add_duration_ns(8 * kMillisecond);
      markers.add_name(name);
      markers.add_domain(0);
      markers.add_thread(1);
      markers.add_depth(0);
    }
  }
  run.Send(1, FRAME_MARKERS, markers);
  const Summary summary = run.EndRun(100 * kMillisecond);
  EXPECT_EQ(summary.steps().source(), "nvtx");
  EXPECT_EQ(summary.steps().steps(), 6u);
  EXPECT_NEAR(summary.steps().time_p50_ns(), 8.0 * kMillisecond, 1);
  ASSERT_EQ(summary.nvtx_size(), 7);
}

TEST(StepsTest, FindsNoStepsWhereNothingRepeats) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a", "b", "c", "d", "e", "f"});
  std::vector<Launch> launches;
  uint32_t state = 1;
  for (uint64_t i = 0; i < 500; ++i) {
    state = state * 1664525u + 1013904223u;
    launches.push_back(Build::LaunchAt(i * 1000, 500, (state >> 16) % 6));
  }
  run.SendLaunches(launches);
  EXPECT_FALSE(run.EndRun(kMillisecond).has_steps());
}

// `replays` of a graph of five nodes, 10 µs each, `gap_ns` apart, and one eager kernel between
// them.
void SendReplays(RunBuilder* run, int replays, uint64_t gap_ns, uint64_t eager_ns) {
  run->SendKernels({"eager", "node"}, 1, 132);
  Variants nodes;
  nodes.set_first(2);
  for (uint32_t i = 0; i < 5; ++i) {
    nodes.add_name(2);
    nodes.add_grid_x(i < 3 ? 132 : 264);
    nodes.add_grid_y(1);
    nodes.add_grid_z(1);
    nodes.add_block_x(128);
    nodes.add_block_y(1);
    nodes.add_block_z(1);
    nodes.add_graph_node(100 + i);
  }
  run->Send(1, FRAME_VARIANTS, nodes);
  uint64_t now = 0;
  uint32_t correlation = 1000;
  for (int replay = 0; replay < replays; ++replay) {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < 5; ++i) {
      launches.push_back(Build::LaunchAt(now, 10 * kMicrosecond, 2 + i));
      now += 11 * kMicrosecond;
    }
    correlation += 7;
    // In two batches, as two flushes would bring them.
    run->SendLaunches({launches.begin(), launches.begin() + 2}, 1, 7, correlation);
    run->SendLaunches({launches.begin() + 2, launches.end()}, 1, 7, correlation);
    run->SendLaunches({Build::LaunchAt(now, eager_ns, 0)});
    // Times between replays that differ, as requests come.
    now += eager_ns + gap_ns + static_cast<uint64_t>(replay % 3) * kMicrosecond;
  }
}

TEST(StepsTest, FindsStepsInLaunchesOfOneGraph) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  SendReplays(&run, 20, 5 * kMicrosecond, kMicrosecond);
  const StepsSummary steps = run.EndRun(10 * kMillisecond).steps();
  EXPECT_EQ(steps.source(), "graph");
  EXPECT_EQ(steps.steps(), 19u);
  EXPECT_NEAR(steps.time_p50_ns(), 62.0 * kMicrosecond, 1);
  EXPECT_NEAR(steps.launches(), 6, 1e-9) << "what runs between two replays belongs to the first";
  EXPECT_NEAR(steps.kernel_time_ns(), 51.0 * kMicrosecond, 1);
  EXPECT_GT(steps.idle_time_ns(), 9.0 * kMicrosecond);
  EXPECT_FALSE(steps.has_warmup_time_ns());
}

TEST(StepsTest, GraphsThatDoLittleAreNotSteps) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  SendReplays(&run, 20, 5 * kMicrosecond, 60 * kMicrosecond);
  EXPECT_EQ(run.EndRun(10 * kMillisecond).steps().source(), "pattern");
}

TEST(StepsTest, TellsCopiesAndLaunchesOfASlowStep) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels({"a", "b", "c", "d", "checkpoint", "slow_kernel"});
  uint64_t now = 0;
  for (int step = 0; step < 40; ++step) {
    std::vector<Launch> launches;
    for (uint32_t i = 0; i < 4; ++i) {
      launches.push_back(Build::LaunchAt(now, 100 * kMicrosecond, i));
      now += 101 * kMicrosecond;
    }
    if (step == 10) {
      run.SendCopy(COPY_DEVICE_TO_HOST, now, 300 * kMicrosecond, 1 << 20);
      now += 301 * kMicrosecond;
    }
    if (step == 20) {
      for (int i = 0; i < 50; ++i, now += 5 * kMicrosecond) {
        launches.push_back(Build::LaunchAt(now, 4500, 4));
      }
    }
    if (step == 30) {
      launches.push_back(Build::LaunchAt(now, 900 * kMicrosecond, 5));
      now += 901 * kMicrosecond;
    }
    run.SendLaunches(launches);
  }
  const StepsSummary steps = run.EndRun(100 * kMillisecond).steps();
  ASSERT_EQ(steps.slow_size(), 3);
  EXPECT_EQ(steps.slow_reason(0), "copies alone took 300 µs more");
  EXPECT_EQ(steps.slow_reason(1), "kernels took 225 µs more, with 50 more launches");
  EXPECT_EQ(steps.slow_reason(2), "kernels took 900 µs more (900 µs in one launch of slow_kernel)");
}

TEST(StepsTest, LeavesOutStepsThatWereNotTracedWhole) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  const auto window = [&](uint64_t start_ns, uint64_t end_ns) {
    TraceWindow message;
    message.set_start_ns(kRunStartNs + start_ns);
    message.set_end_ns(kRunStartNs + end_ns);
    message.set_flags(1);
    run.Send(1, FRAME_TRACE_WINDOW, message);
  };
  run.SendKernels(KernelNames(10));
  const auto steps_from = [&](uint64_t start_ns) {
    for (uint64_t step = 0; step < 10; ++step) {
      std::vector<Launch> launches;
      for (uint32_t i = 0; i < 10; ++i) {
        launches.push_back(
            Build::LaunchAt(start_ns + (step * 10 + i) * 100 * kMicrosecond, 90 * kMicrosecond, i));
      }
      run.SendLaunches(launches);
    }
  };
  steps_from(0);
  window(0, 10 * kMillisecond);
  window(100 * kMillisecond, 110 * kMillisecond);
  steps_from(100 * kMillisecond);
  const StepsSummary steps = run.EndRun(110 * kMillisecond).steps();
  EXPECT_EQ(steps.steps(), 18u) << "not the one that the pause is in";
  EXPECT_NEAR(steps.time_p99_ns(), 1.0 * kMillisecond, 1);
}

SummaryOptions WithStepKernel(const std::string& name) {
  SummaryOptions options;
  options.step_kernel = name;
  return options;
}

// The fourth of ten kernels, where the pattern begins with the first.
TEST(StepsTest, AKernelThatIsNamedBeginsTheSteps) {
  RunBuilder run(WithStepKernel("nel_3"));
  run.StartRun();
  run.StartProcess();
  SendLoop(&run, 50, 100 * kMicrosecond, kMicrosecond);
  const Summary summary = run.EndRun(60 * kMillisecond);
  EXPECT_EQ(summary.steps().source(), "kernel");
  EXPECT_EQ(summary.steps().steps(), 49u);
  EXPECT_NEAR(summary.steps().start_ns(0), 303.0 * kMicrosecond, 200) << "times are in double";
}

TEST(StepsTest, ANameOfNoKernelMakesNoSteps) {
  RunBuilder run(WithStepKernel("optimizer"));
  run.StartRun();
  run.StartProcess();
  SendLoop(&run, 50, 100 * kMicrosecond, kMicrosecond);
  EXPECT_FALSE(run.EndRun(60 * kMillisecond).has_steps());
}

// Kernels of 90 µs at the same distances.
void SendStepOfTen(RunBuilder* run, uint64_t start_ns, uint64_t step_ns) {
  std::vector<Launch> launches;
  for (uint32_t i = 0; i < 10; ++i) {
    launches.push_back(Build::LaunchAt(start_ns + i * step_ns / 10, 90 * kMicrosecond, i));
  }
  run->SendLaunches(launches);
}

// Ten slow steps are traced whole, and of a hundred times as many fast ones two in each window.
TEST(StepsTest, StepsStandForThoseAroundThemThatWereNotTraced) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels(KernelNames(10));
  const auto steps_in = [&](uint64_t start_ns, uint64_t end_ns, uint64_t step_ns) {
    TraceWindow message;
    message.set_start_ns(kRunStartNs + start_ns);
    message.set_end_ns(kRunStartNs + end_ns);
    message.set_flags(1);
    run.Send(1, FRAME_TRACE_WINDOW, message);
    for (uint64_t at_ns = start_ns; at_ns < end_ns; at_ns += step_ns) {
      SendStepOfTen(&run, at_ns, step_ns);
    }
  };
  steps_in(0, 100 * kMillisecond, 10 * kMillisecond);
  for (uint64_t window = 1; window <= 4; ++window) {
    const uint64_t start_ns = 100 * window * kMillisecond;
    steps_in(start_ns, start_ns + 3 * kMillisecond, kMillisecond);
  }
  const StepsSummary steps = run.EndRun(403 * kMillisecond).steps();
  EXPECT_EQ(steps.warmup_steps(), 10u) << "most of the steps that were traced, few of the run's";
  EXPECT_NEAR(steps.time_p50_ns(), 1.0 * kMillisecond, 1);
  EXPECT_NEAR(steps.time_mean_ns(), 1.0 * kMillisecond, 1);
  ASSERT_EQ(steps.levels_size(), 1);
  EXPECT_NEAR(steps.levels(0).count(), 300, 30);
  EXPECT_LT(steps.traced_share(), 0.1);
}

// Steps of the lengths given, in windows of that many each, and as long a time between these. Of a
// window the last step does not end in it.
StepsSummary StepsInWindows(const std::vector<std::vector<uint64_t>>& windows_ms, uint64_t gap_ms) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels(KernelNames(10));
  uint64_t now_ns = 0;
  for (const std::vector<uint64_t>& window_ms : windows_ms) {
    TraceWindow message;
    message.set_start_ns(kRunStartNs + now_ns);
    message.set_flags(1);
    run.Send(1, FRAME_TRACE_WINDOW, message);
    for (const uint64_t step_ms : window_ms) {
      SendStepOfTen(&run, now_ns, step_ms * kMillisecond);
      now_ns += step_ms * kMillisecond;
    }
    message.set_end_ns(kRunStartNs + now_ns);
    run.Send(1, FRAME_TRACE_WINDOW, message);
    now_ns += gap_ms * kMillisecond;
  }
  return run.EndRun(now_ns - gap_ms * kMillisecond).steps();
}

// Not only the two that are next to what was not traced.
TEST(StepsTest, AllStepsOfAWindowStandForTheSame) {
  const std::vector<uint64_t> window_ms = {12, 10, 10, 10, 12, 12};
  const StepsSummary steps = StepsInWindows({6, window_ms}, 1000);
  ASSERT_EQ(steps.steps(), 30u);
  EXPECT_EQ(steps.warmup_steps(), 0u);
  EXPECT_NEAR(steps.time_mean_ns(), 10.8 * kMillisecond, 0.01 * kMillisecond);
  EXPECT_NEAR(steps.time_p50_ns(), 10.0 * kMillisecond, 0.01 * kMillisecond);
}

// Of a long window, those that came half a second before stand for themselves alone.
TEST(StepsTest, StepsFarFromWhatWasNotTracedStandForThemselves) {
  std::vector<uint64_t> first_ms(100, 11);
  first_ms.insert(first_ms.end(), 60, 10);
  const StepsSummary steps = StepsInWindows({first_ms, std::vector<uint64_t>(6, 10)}, 100'000);
  ASSERT_EQ(steps.steps(), 164u);
  const double count = 164 + 10'000;
  EXPECT_NEAR(steps.time_mean_ns(), (10 + 100 / count) * kMillisecond, 0.001 * kMillisecond);
}

// The first launches repeat; most of the run does not, though the kernel that began them comes
// back.
TEST(StepsTest, StretchesThatAreNotAlikeAreNoSteps) {
  RunBuilder run;
  run.StartRun();
  run.StartProcess();
  run.SendKernels(KernelNames(10));
  constexpr uint32_t kRepeats = StepFinder::kSearchLaunches / 20 + 1;
  uint64_t at_ns = 0;
  for (uint32_t stretch = 0; stretch < 4 * kRepeats; ++stretch) {
    std::vector<Launch> launches;
    const uint32_t length = stretch < kRepeats ? 20 : 2 + stretch * 7 % 61;
    for (uint32_t i = 0; i < length; ++i) {
      launches.push_back(Build::LaunchAt(at_ns, 9 * kMicrosecond, i == 0 ? 0 : 1 + i * i % 9));
      at_ns += 10 * kMicrosecond;
    }
    run.SendLaunches(launches);
  }
  EXPECT_FALSE(run.EndRun(at_ns).has_steps());
}

}  // namespace
}  // namespace utlz
