// Before whose launches the GPU waits, where some steps stand for more of the run than others.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "tests/support/made_up_stacks.h"
#include "tests/support/uneven_windows.h"
#include "tests/unit/summary/owner_rows.h"

namespace utlz {
namespace {

using Waits = UnevenWindows::Waits;

constexpr Waits kDenseWaits = {50 * kMicrosecond, 300 * kMicrosecond, 20 * kMicrosecond,
                               10 * kMicrosecond};
// With a wait that is listed by itself.
constexpr Waits kSparseWaits = {200 * kMicrosecond, 30 * kMicrosecond, 1500 * kMicrosecond,
                                90 * kMicrosecond};

// Kernels 0 and 1 are of one layer, 2 and 3 of another; each has a line of its own.
class WeighedIdleTest : public ::testing::Test {
 protected:
  WeighedIdleTest() {
    run_.StartRun();
    run_.StartProcess();
    run_.SendKernels(KernelNames(UnevenWindows::kKernels));
  }

  std::array<uint32_t, UnevenWindows::kKernels> SendStacks() {
    MadeUpStacks stacks(UnevenWindows::kKernels + 1);
    const uint32_t model = stacks.Module(0, "", "Gpt");
    std::array<uint32_t, UnevenWindows::kKernels> of_kernels{};
    for (uint32_t i = 0; i < UnevenWindows::kKernels; ++i) {
      const uint32_t layer = stacks.Module(model, i < 2 ? "first" : "second", "Layer");
      of_kernels[i] = stacks.Function(layer, "forward", "/home/me/model.py", LineOf(i));
    }
    stacks.SendTo(&run_);
    return of_kernels;
  }

  static uint32_t LineOf(uint32_t kernel) { return 10 + kernel; }

  RunBuilder run_;
};

double OwnIdleNs(const Rows& rows) {
  double sum_ns = 0;
  for (const OwnerSummary& row : rows) sum_ns += row.own_idle_before_ns();
  return sum_ns;
}

double IdleNsOfLine(const OwnersSummary& owners, uint32_t line) {
  double sum_ns = 0;
  for (const OwnerSummary& row : owners.lines()) {
    if (row.line() == line) sum_ns += row.idle_before_ns();
  }
  return sum_ns;
}

double IdleNsOfLayer(const OwnersSummary& owners, const std::string& name) {
  double sum_ns = 0;
  for (const OwnerSummary& row : owners.layers()) {
    if (row.name() == name) sum_ns += row.idle_before_ns();
  }
  return sum_ns;
}

// Of a moment of idle time in `owners`: how much of a step it is.
double OfAStep(const Summary& summary) {
  double steady_ns = 0;
  for (const DeviceSummary& device : summary.devices()) {
    steady_ns += static_cast<double>(device.steady_state_ns());
  }
  return summary.steps().time_mean_ns() / steady_ns;
}

// Rows by layer, by line and by cause are of the same idle time.
void ExpectRowsMakeTheIdleTime(const Summary& summary) {
  const OwnersSummary& owners = summary.owners();
  double devices_ns = 0;
  for (const DeviceSummary& device : summary.devices()) {
    devices_ns += static_cast<double>(device.idle_time_ns());
  }
  EXPECT_EQ(owners.idle_time_ns(), devices_ns);
  EXPECT_EQ(OwnIdleNs(owners.layers()), devices_ns);
  EXPECT_EQ(OwnIdleNs(owners.lines()), devices_ns);
  const double idle_ns = devices_ns * OfAStep(summary);
  EXPECT_NEAR(idle_ns, summary.steps().idle_time_ns(), 1e-6 * idle_ns);
  EXPECT_NEAR(idle_ns, IdleSlicesNs(summary), 1e-6 * idle_ns);
}

void ExpectTruth(const UnevenWindows& program, const Summary& summary) {
  ASSERT_EQ(summary.steady_state().scope(), "steps");
  EXPECT_NEAR(summary.steps().idle_time_ns(), program.TrueWaitNs(), 0.002 * program.TrueWaitNs());
  const OwnersSummary& owners = summary.owners();
  for (uint32_t i = 0; i < UnevenWindows::kKernels; ++i) {
    const double line_ns = IdleNsOfLine(owners, 10 + i) * OfAStep(summary);
    EXPECT_NEAR(line_ns, program.TrueWaitNs(i), 0.005 * program.TrueWaitNs(i)) << i;
  }
  const double first_ns = program.TrueWaitNs(0) + program.TrueWaitNs(1);
  EXPECT_NEAR(IdleNsOfLayer(owners, "first") * OfAStep(summary), first_ns, 0.005 * first_ns);
}

TEST_F(WeighedIdleTest, LinesAndLayersAreOfTheSameStepsAsTheMean) {
  UnevenWindows program(&run_, SendStacks());
  RunDenseThenSparse(kDenseWaits, kSparseWaits, &program);
  const Summary summary = run_.EndRun(program.now_ns());
  ExpectRowsMakeTheIdleTime(summary);
  ExpectTruth(program, summary);
}

TEST_F(WeighedIdleTest, StepsThatAreAllAlikeAreToldAsTheyWereTraced) {
  UnevenWindows program(&run_, SendStacks());
  RunDenseThenSparse(kDenseWaits, kDenseWaits, &program);
  const Summary summary = run_.EndRun(program.now_ns());
  ExpectRowsMakeTheIdleTime(summary);
  ExpectTruth(program, summary);
}

// A pause is in no row, and what waits beside it stays there.
TEST_F(WeighedIdleTest, PausesAreNobodys) {
  UnevenWindows program(&run_, SendStacks());
  RunDenseThenSparse(kDenseWaits, kSparseWaits, &program);
  Waits paused = kSparseWaits;
  paused[1] = 500 * kMillisecond;
  program.Gap(50, kSparseWaits);
  program.Window(3, kSparseWaits);
  const double usual_ns = program.TrueWaitNs(1);
  program.Window(1, paused);
  program.Window(3, kSparseWaits);
  const Summary summary = run_.EndRun(program.now_ns());
  EXPECT_EQ(summary.steady_state().pauses(), 1u);
  ExpectRowsMakeTheIdleTime(summary);
  EXPECT_NEAR(IdleNsOfLine(summary.owners(), LineOf(1)) * OfAStep(summary), usual_ns,
              0.02 * usual_ns);
}

// Another GPU, of a process whose lines nobody read, keeps its own idle time.
TEST_F(WeighedIdleTest, AGpuWithoutLinesTakesNothingFromThoseOfAnother) {
  UnevenWindows program(&run_, SendStacks());
  run_.StartProcess(2, RunBuilder::Uuid('B'));
  run_.SendKernels({"other"}, 2);
  RunDenseThenSparse(kDenseWaits, kSparseWaits, &program);
  for (uint64_t now = kMillisecond; now < program.now_ns(); now += 60 * kMillisecond) {
    run_.SendLaunches({RunBuilder::LaunchAt(now, kMillisecond)}, 2);
  }
  const Summary summary = run_.EndRun(program.now_ns());
  ASSERT_EQ(summary.devices_size(), 2);
  const OwnersSummary& owners = summary.owners();
  const auto idle_ns = [&](int device) {
    return static_cast<double>(summary.devices(device).idle_time_ns());
  };
  EXPECT_EQ(OwnIdleNs(owners.lines()), idle_ns(0) + idle_ns(1));
  EXPECT_EQ(OwnIdleNs(owners.layers()), idle_ns(0) + idle_ns(1));
  double of_lines_ns = 0;
  for (uint32_t i = 0; i < UnevenWindows::kKernels; ++i) {
    of_lines_ns += IdleNsOfLine(owners, LineOf(i));
  }
  EXPECT_NEAR(of_lines_ns, idle_ns(0), 1);
  EXPECT_GT(idle_ns(1), 0);
}

}  // namespace
}  // namespace utlz
