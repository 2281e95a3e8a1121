// Which part of a kernel's launches and time lies in the steps, where start-up was traced as a
// whole and of the steps only few.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "collector/timeline/kernel_series.h"
#include "tests/support/windowed_run.h"

namespace utlz {
namespace {

constexpr uint32_t kStepKernels = 5;
constexpr int kStartUpLaunches = 400;  // of the first kernel of a step, before the steps
constexpr int kWindowsOfSteps = 20;
constexpr int kStepsOfAWindow = 20;
constexpr int kStepsBetweenWindows = 30;
constexpr int kAllSteps =
    kWindowsOfSteps * kStepsOfAWindow + (kWindowsOfSteps - 1) * kStepsBetweenWindows;

// `tried_out`: kernels that only start-up launches, once each.
Summary WithDenseStartUp(uint32_t tried_out) {
  WindowedRun run(KernelNames(kStepKernels + tried_out));
  std::vector<uint32_t> start_up;
  for (uint32_t i = 0; i < tried_out; ++i) start_up.push_back(kStepKernels + i);
  start_up.insert(start_up.end(), kStartUpLaunches, 0);
  run.Trace(start_up);
  std::vector<uint32_t> steps;
  for (int step = 0; step < kStepsOfAWindow; ++step) {
    for (uint32_t i = 0; i < kStepKernels; ++i) steps.push_back(i);
  }
  for (int window = 0; window < kWindowsOfSteps; ++window) {
    if (window > 0) run.LeaveUntraced(kStepsBetweenWindows * kStepKernels);
    run.Trace(steps);
  }
  return run.EndRun();
}

const KernelSummary& KernelNamed(const Summary& summary, const std::string& name) {
  return *std::find_if(summary.kernels().begin(), summary.kernels().end(),
                       [&](const KernelSummary& kernel) { return kernel.name() == name; });
}

double LaunchesInSteps(const Summary& summary, const std::string& name) {
  const KernelSummary& kernel = KernelNamed(summary, name);
  return kernel.steady_state_share() * static_cast<double>(kernel.launches());
}

TEST(SteadySharesTest, StepsThatWereNotTracedAreInTheSteps) {
  const Summary summary = WithDenseStartUp(0);
  ASSERT_EQ(summary.steady_state().scope(), "steps");
  const std::vector<std::string> names = KernelNames(kStepKernels);
  EXPECT_NEAR(static_cast<double>(KernelNamed(summary, names[0]).launches()),
              kStartUpLaunches + kAllSteps, 0.03 * kAllSteps);
  for (const std::string& name : names) {
    EXPECT_NEAR(LaunchesInSteps(summary, name), kAllSteps, 0.03 * kAllSteps) << name;
  }
  double steps_ns = 0;
  for (const KernelSummary& kernel : summary.kernels()) {
    steps_ns += kernel.steady_state_share() * kernel.time_ns();
  }
  EXPECT_NEAR(steps_ns / summary.steps().kernel_time_ns(), kAllSteps, 0.03 * kAllSteps);
}

// A program that tunes tries more kernels out than there are series for.
TEST(SteadySharesTest, KernelsOfStepsHaveSharesOfTheirOwnAfterManyThatWereTriedOut) {
  const Summary summary = WithDenseStartUp(KernelSeries::kMaxKernels + 100);
  ASSERT_EQ(summary.steady_state().scope(), "steps");
  const std::vector<std::string> names = KernelNames(kStepKernels + 1);
  for (uint32_t i = 0; i < kStepKernels; ++i) {
    EXPECT_NEAR(LaunchesInSteps(summary, names[i]), kAllSteps, 0.05 * kAllSteps) << names[i];
  }
  EXPECT_EQ(LaunchesInSteps(summary, names[kStepKernels]), 0) << "only start-up launched it";
}

}  // namespace
}  // namespace utlz
