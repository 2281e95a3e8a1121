// Two runs of one program, of which tracing slowed the windows down: measured and left out in one,
// still in the times of the other.
#include "tools/compare/overhead_adjustment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/compare/run_maker.h"
#include "tools/compare/diff.h"
#include "tools/compare/gate.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kStepNs = 10e6;
constexpr double kTracingNs = 2e6;  // that it adds to a step
constexpr double kKernelNs = 8e6;   // of a step

void SetSlice(const char* name, double step_ns, Summary* run) {
  WaterfallSlice* slice = nullptr;
  for (WaterfallSlice& known : *run->mutable_waterfall()->mutable_slices()) {
    if (known.name() == name) slice = &known;
  }
  if (slice == nullptr) slice = run->mutable_waterfall()->add_slices();
  slice->set_name(name);
  slice->set_time_ns(kUsualSteps * step_ns);
  slice->set_time_per_step_ns(step_ns);
}

// What a run says whose steps take so long, its share of idle time going with it.
void SetTimes(double step_ns, Summary* run) {
  run->mutable_steps()->set_time_mean_ns(step_ns);
  run->mutable_steps()->set_time_p50_ns(step_ns);
  run->mutable_steps()->set_idle_time_ns(step_ns - kKernelNs);
  run->mutable_steady_state()->set_scope("steps");
  run->mutable_steady_state()->set_time_ns(kUsualSteps * step_ns);
  DeviceSummary* device = run->mutable_devices(0);
  device->set_steady_state_ns(static_cast<uint64_t>(kUsualSteps * step_ns));
  device->set_gpu_busy_share(kKernelNs / step_ns);
  device->set_sm_active_share(0.8 * kKernelNs / step_ns);
  device->set_tensor_active_share(0.5 * kKernelNs / step_ns);
  device->set_hbm_bandwidth_share(0.3 * kKernelNs / step_ns);
  device->set_hfu(0.4 * kKernelNs / step_ns);
  run->mutable_efficiency()->set_mfu(0.35 * kKernelNs / step_ns);
  run->mutable_efficiency()->set_tokens_per_second(1e12 / step_ns);
  run->mutable_efficiency()->set_joules_per_step(5e-7 * step_ns);
  SetSlice("useful", kKernelNs, run);
  SetSlice("idle: launch-bound", step_ns - kKernelNs, run);
}

// All steps as they were traced, which is how they are listed.
Summary Traced(RunMaker* maker, double step_ns) {
  return maker->Make({.step_ns = step_ns + kTracingNs, .step_deviation_share = 0.005});
}

Summary TakenOut(RunMaker* maker, double step_ns, double error_ns) {
  Summary run = Traced(maker, step_ns);
  SetTimes(step_ns, &run);
  run.mutable_steps()->set_slowdown_time_ns(kTracingNs);
  run.mutable_steps()->set_slowdown_error_ns(error_ns);
  run.mutable_steady_state()->set_slowdown_time_ns(kUsualSteps * kTracingNs);
  run.mutable_steady_state()->set_slowdown_error_ns(kUsualSteps * error_ns);
  SetSlice("waiting for tracing itself", 0, &run);
  run.mutable_waterfall()->mutable_slices(2)->set_time_ns(kUsualSteps * kTracingNs);
  return run;
}

Summary LeftIn(RunMaker* maker, double step_ns) {
  Summary run = Traced(maker, step_ns);
  SetTimes(step_ns + kTracingNs, &run);
  run.mutable_capture()->set_steady_state_slowdown_share(kTracingNs / (step_ns + kTracingNs));
  return run;
}

// The kernels of both are the same; only these may differ by the noise that RunMaker gives them.
void TakeKernelsFrom(const Summary& from, Summary* run) {
  *run->mutable_kernels() = from.kernels();
  run->mutable_devices(0)->set_kernel_time_ns(from.devices(0).kernel_time_ns());
}

TEST(OverheadAdjustmentTest, WhatIsLeftInOneRunOnlyIsNoDifference) {
  RunMaker maker(1);
  const Summary left_out = TakenOut(&maker, kStepNs, 0.1e6);
  Summary left_in = LeftIn(&maker, kStepNs);
  TakeKernelsFrom(left_out, &left_in);
  for (const Difference& difference : {Diff(left_out, left_in), Diff(left_in, left_out)}) {
    EXPECT_FALSE(difference.HasDifference()) << difference.verdict;
    ASSERT_THAT(difference.caveats, SizeIs(1));
    EXPECT_THAT(difference.caveats[0], HasSubstr("as they were traced"));
    EXPECT_THAT(difference.caveats[0], HasSubstr("16.7 % of the time before and 16.7 % after"));
  }
}

// Each number that a comparison reads is the one that the run would have shown with it left in.
TEST(OverheadAdjustmentTest, PutsBackWhatWasTakenOut) {
  RunMaker maker(2);
  const Summary back = AsTraced(TakenOut(&maker, kStepNs, 0.1e6));
  Summary expected = LeftIn(&maker, kStepNs);
  EXPECT_NEAR(back.steps().time_mean_ns(), expected.steps().time_mean_ns(), 1);
  EXPECT_NEAR(back.steps().time_p50_ns(), expected.steps().time_p50_ns(), 1);
  EXPECT_NEAR(back.steps().idle_time_ns(), expected.steps().idle_time_ns(), 1);
  EXPECT_EQ(back.steps().slowdown_time_ns(), 0);
  EXPECT_NEAR(back.steady_state().time_ns(), expected.steady_state().time_ns(), 1);
  const DeviceSummary& device = back.devices(0);
  EXPECT_NEAR(device.gpu_busy_share(), expected.devices(0).gpu_busy_share(), 1e-9);
  EXPECT_NEAR(device.sm_active_share(), expected.devices(0).sm_active_share(), 1e-9);
  EXPECT_NEAR(device.tensor_active_share(), expected.devices(0).tensor_active_share(), 1e-9);
  EXPECT_NEAR(device.hbm_bandwidth_share(), expected.devices(0).hbm_bandwidth_share(), 1e-9);
  EXPECT_NEAR(device.hfu(), expected.devices(0).hfu(), 1e-9);
  EXPECT_NEAR(back.efficiency().mfu(), expected.efficiency().mfu(), 1e-9);
  EXPECT_NEAR(back.efficiency().tokens_per_second(), expected.efficiency().tokens_per_second(), 1);
  EXPECT_NEAR(back.efficiency().joules_per_step(), expected.efficiency().joules_per_step(), 1e-9);
  for (int i = 0; i < expected.waterfall().slices_size(); ++i) {
    const WaterfallSlice& slice = back.waterfall().slices(i);
    EXPECT_NEAR(slice.time_ns(), expected.waterfall().slices(i).time_ns(), 1) << slice.name();
    EXPECT_NEAR(slice.time_per_step_ns(), expected.waterfall().slices(i).time_per_step_ns(), 1);
  }
  EXPECT_NEAR(back.capture().steady_state_slowdown_share(),
              expected.capture().steady_state_slowdown_share(), 1e-9);
}

TEST(OverheadAdjustmentTest, TenPerCentAreFoundWhereBothLeaveItOut) {
  RunMaker maker(3);
  const Difference difference =
      Diff(TakenOut(&maker, kStepNs, 0.1e6), TakenOut(&maker, 1.1 * kStepNs, 0.1e6));
  EXPECT_THAT(difference.verdict, HasSubstr("more"));
  EXPECT_THAT(difference.caveats, IsEmpty());
  EXPECT_NEAR(*difference.quantities[0].change.RelativeDelta(), 0.1, 0.01);
  const GateResult gate =
      Gate({TakenOut(&maker, kStepNs, 0.1e6)}, {TakenOut(&maker, 1.1 * kStepNs, 0.1e6)});
  EXPECT_EQ(gate.outcome, GateOutcome::kRegression) << gate.reasons[0];
}

// Tracing costs a training step a per cent or two, which hides little.
TEST(OverheadAdjustmentTest, TenPerCentAreFoundWhereLittleIsLeftIn) {
  RunMaker maker(4);
  std::vector<Summary> runs = {LeftIn(&maker, kStepNs), LeftIn(&maker, 1.1 * kStepNs)};
  for (Summary& run : runs) run.mutable_capture()->set_steady_state_slowdown_share(0.02);
  EXPECT_THAT(Diff(runs[0], runs[1]).verdict, HasSubstr("more"));
  EXPECT_THAT(Diff(runs[0], runs[1]).caveats, IsEmpty());
}

// The same graph's nodes cost as much more in one run than in another.
TEST(OverheadAdjustmentTest, WhatIsLeftInDiffersFromRunToRun) {
  RunMaker maker(5);
  const Summary before = LeftIn(&maker, kStepNs);
  const Summary after = LeftIn(&maker, kStepNs + 0.5 * kTracingNs);
  const Difference difference = Diff(before, after);
  EXPECT_EQ(difference.quantities[0].change.verdict, Verdict::kNoDifference);
  ASSERT_THAT(difference.caveats, SizeIs(1));
  EXPECT_THAT(difference.caveats[0], HasSubstr("an estimated 16.7 % of the time before"));
  EXPECT_EQ(Gate({before}, {after}).outcome, GateOutcome::kInconclusive);
}

TEST(OverheadAdjustmentTest, OfARunWithoutStepsItIsTheWindows) {
  RunMaker maker(6);
  Summary left_out = TakenOut(&maker, kStepNs, 0.1e6);
  Summary left_in = LeftIn(&maker, kStepNs);
  TakeKernelsFrom(left_out, &left_in);
  left_out.mutable_run()->set_wall_ns(left_in.run().wall_ns());
  for (Summary* run : {&left_out, &left_in}) {
    run->clear_steps();
    run->mutable_steady_state()->set_scope("run");
  }
  EXPECT_FALSE(Diff(left_out, left_in).HasDifference());
  EXPECT_NEAR(TracingError(left_out), 0.01, 1e-9);
}

}  // namespace
}  // namespace utlz
