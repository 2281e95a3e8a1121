#include "tools/compare/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/compare/run_maker.h"
#include "tools/compare/difference_verdict.h"
#include "tools/compare/estimate.h"
#include "tools/compare/overhead_adjustment.h"
#include "tools/compare/run_quantities.h"
#include "tools/compare/slice_names.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const KernelChange* FindChange(const Difference& difference, const std::string& name) {
  for (const KernelChange& change : difference.kernels) {
    if (change.name_after == name || change.name_before == name) return &change;
  }
  return nullptr;
}

const Change& Quantity(const Difference& difference, const std::string& name) {
  static const Change none;
  for (const QuantityChange& quantity : difference.quantities) {
    if (quantity.name == name) return quantity.change;
  }
  return none;
}

TEST(DiffTest, TheSameRunTwiceHasNoDifference) {
  const Summary run = RunMaker(1).Make({});
  const Difference difference = Diff(run, run);
  EXPECT_FALSE(difference.HasDifference());
  EXPECT_THAT(difference.verdict, HasSubstr("no difference"));
  EXPECT_THAT(difference.caveats, IsEmpty());
}

TEST(DiffTest, AKernelThatExplainsLittleIsNotMostOfIt) {
  RunMaker maker(31);
  const Summary before = maker.Make({.kernels = 4, .step_ns = 20e6});
  Summary after = maker.Make({.kernels = 4, .step_ns = 10e6});
  Difference difference = Diff(before, after);
  ASSERT_THAT(difference.verdict, HasSubstr("less"));
  for (KernelChange& kernel : difference.kernels) kernel.time_ns.after = *kernel.time_ns.before - 1;
  EXPECT_THAT(DifferenceVerdict(difference), Not(HasSubstr("of it is")));
  KernelChange& first = difference.kernels[0];
  first.time_ns.before = *first.time_ns.after + 3e6;
  EXPECT_THAT(DifferenceVerdict(difference), HasSubstr("% of it is " + first.name_after));
  first.time_ns.before = *first.time_ns.after + 8e6;
  EXPECT_THAT(DifferenceVerdict(difference), HasSubstr("most of it is " + first.name_after));
}

// What is not sure enough to be called a change may lie outside of its interval all the same.
TEST(DiffTest, ADifferenceBeyondItsIntervalIsNotSaidToBeWithin) {
  RunMaker maker(33);
  const Summary run = maker.Make({});
  Difference difference = Diff(run, run);
  for (QuantityChange& quantity : difference.quantities) {
    if (quantity.name != "step_time_ns") continue;
    quantity.change.before = 32.29e6;
    quantity.change.after = 29.5e6;
    quantity.change.error = 2.564e6 / 1.96;
  }
  EXPECT_THAT(
      DifferenceVerdict(difference),
      HasSubstr("A step takes 29.50 ms after and 32.29 ms before: −2.790 ms ± 2.564 ms, too "
                "near its error to call it a change."));
}

OwnerSummary* AddLayer(const std::string& name, double time_ns, Summary* summary) {
  OwnerSummary* layer = summary->mutable_owners()->add_layers();
  layer->set_kind("layer");
  layer->set_name(name);
  layer->set_time_ns(time_ns);
  return layer;
}

TEST(DiffTest, RunsOfTwoProgramsAreSaidToBe) {
  RunMaker maker(36);
  const Summary before = maker.Make({.kernels = 4});
  Summary after = maker.Make({.kernels = 4});
  EXPECT_THAT(Diff(before, after).caveats, IsEmpty());
  for (KernelSummary& kernel : *after.mutable_kernels()) {
    kernel.set_mangled_name("other_" + std::to_string(kernel.id()));
    kernel.set_name(kernel.mangled_name());
    kernel.set_launches(3 * kernel.launches() + 1);
    kernel.clear_flops();
  }
  EXPECT_THAT(Diff(before, after).caveats,
              ::testing::ElementsAre(HasSubstr("runs of different programs")));
}

// As a kernel that is gone has.
TEST(DiffTest, ALayerThatIsGoneHasNoTimeAfter) {
  RunMaker maker(35);
  Summary before = maker.Make({});
  Summary after = before;
  AddLayer("old", 0.5 * before.steps().time_mean_ns() * static_cast<double>(before.steps().steps()),
           &before);
  AddLayer("new", 0.5 * after.steps().time_mean_ns() * static_cast<double>(after.steps().steps()),
           &after);
  const Difference difference = Diff(before, after);
  ASSERT_EQ(difference.layers.size(), 2u);
  for (const LayerChange& layer : difference.layers) {
    const bool gone = layer.name == "old";
    EXPECT_EQ(layer.time_ns.verdict, gone ? Verdict::kGone : Verdict::kAppeared);
    EXPECT_EQ(layer.time_ns.before.has_value(), gone);
    EXPECT_EQ(layer.time_ns.after.has_value(), !gone);
  }
}

TEST(DiffTest, AChangeOfManyTimesIsNoPercentage) {
  RunMaker maker(34);
  const Summary before = maker.Make({.step_ns = 1e6, .step_deviation_share = 0});
  const Summary slower = maker.Make({.step_ns = 5e6, .step_deviation_share = 0});
  EXPECT_THAT(Diff(before, slower).verdict, HasSubstr(": 400.0 % more"));
  const Summary much_slower = maker.Make({.step_ns = 8083e6, .step_deviation_share = 0});
  EXPECT_THAT(Diff(before, much_slower).verdict, HasSubstr(": 8,080 times more"));
}

TEST(DiffTest, SaysThatARunFailed) {
  RunMaker maker(32);
  const Summary before = maker.Make({});
  Summary after = before;
  after.mutable_run()->set_exit_status(1);
  EXPECT_THAT(Diff(before, after).caveats, ::testing::ElementsAre(HasSubstr("A run after failed")));
}

// One family in a hundred may raise a false alarm, and there are three.
TEST(DiffTest, RunsOfTheSameThingSeldomDiffer) {
  RunMaker maker(2);
  const RunShape shape = {.kernels = 40, .run_deviation_share = 0.01};
  int alarms = 0;
  for (int i = 0; i < 100; ++i) {
    const Summary before = maker.Make(shape);
    alarms += Diff(before, maker.Make(shape)).HasDifference();
  }
  EXPECT_LE(alarms, 5);
}

TEST(DiffTest, SeveralRunsOfTheSameThingSeldomDiffer) {
  RunMaker maker(3);
  const RunShape shape = {.kernels = 50, .run_deviation_share = 0.03};
  int alarms = 0;
  for (int i = 0; i < 60; ++i) {
    std::vector<Summary> before;
    std::vector<Summary> after;
    for (int run = 0; run < 4; ++run) before.push_back(maker.Make(shape));
    for (int run = 0; run < 6; ++run) after.push_back(maker.Make(shape));
    alarms += DiffRuns(before, after).HasDifference();
  }
  EXPECT_LE(alarms, 4);
}

TEST(DiffTest, MoreStepsOfTheSameWorkAreNoDifference) {
  RunMaker maker(4);
  const Summary before = maker.Make({.steps = 100});
  const Difference difference = Diff(before, maker.Make({.steps = 250}));
  EXPECT_TRUE(difference.per_step);
  EXPECT_FALSE(difference.HasDifference()) << difference.verdict;
}

TEST(DiffTest, NamesTheKernelThatBecameSlower) {
  RunMaker maker(5);
  Summary before = maker.Make({.kernels = 4});
  Summary after = maker.Make({.kernels = 4, .step_ns = 10e6});
  KernelSummary* kernel = FindKernel(after, "elementwise_2");
  const double added_ns = kernel->time_ns();
  kernel->set_time_ns(kernel->time_ns() + added_ns);
  after.mutable_steps()->set_time_mean_ns(after.steps().time_mean_ns() + added_ns / 100);
  const Difference difference = Diff(before, after);
  EXPECT_EQ(difference.kernels[0].name_after, "elementwise_2");
  EXPECT_EQ(difference.kernels[0].time_ns.verdict, Verdict::kIncrease);
  EXPECT_NEAR(*difference.kernels[0].time_ns.RelativeDelta(), 1, 0.1);
  EXPECT_EQ(FindChange(difference, "elementwise_1")->time_ns.verdict, Verdict::kNoDifference);
  EXPECT_THAT(difference.verdict, HasSubstr("elementwise_2"));
  EXPECT_THAT(difference.verdict, HasSubstr("more"));
}

TEST(DiffTest, SeesASliceThatMoved) {
  RunMaker maker(6);
  Summary before = maker.Make({});
  Summary after = maker.Make({});
  WaterfallSlice* useful = after.mutable_waterfall()->mutable_slices(0);
  WaterfallSlice* idle = after.mutable_waterfall()->mutable_slices(1);
  const double moved = 0.1 * useful->time_ns();
  useful->set_time_ns(useful->time_ns() - moved);
  idle->set_time_ns(idle->time_ns() + moved);
  const Difference difference = Diff(before, after);
  ASSERT_EQ(difference.slices.size(), 2u);
  EXPECT_EQ(difference.slices[0].time_ns.verdict, Verdict::kDecrease);
  EXPECT_EQ(difference.slices[1].time_ns.verdict, Verdict::kIncrease);
}

TEST(DiffTest, StartUpIsNoPartOfAStep) {
  RunMaker maker(11);
  std::vector<Summary> runs = {maker.Make({}), maker.Make({})};
  for (Summary& run : runs) {
    WaterfallSlice* slice = run.mutable_waterfall()->add_slices();
    slice->set_name(kSlicesOutsideSteps[0]);
    slice->set_time_ns(&run == &runs[0] ? 1e9 : 20e9);
  }
  const Difference difference = Diff(runs[0], runs[1]);
  EXPECT_EQ(difference.slices.size(), 2u);
  EXPECT_FALSE(difference.HasDifference());
}

// Of the second run, tracing was on for a tenth of the time only.
TEST(DiffTest, WhatATraceWindowSawIsPutPerStepOfTheWindow) {
  RunMaker maker(12);
  std::vector<Summary> runs = {maker.Make({}), maker.Make({})};
  for (Summary& run : runs) {
    const double seen = &run == &runs[0] ? 1 : 0.1;
    DeviceSummary* device = run.mutable_devices(0);
    run.mutable_steady_state()->set_scope("steps");
    run.mutable_steady_state()->set_time_ns(seen * static_cast<double>(device->steady_state_ns()));
    for (WaterfallSlice& slice : *run.mutable_waterfall()->mutable_slices()) {
      slice.set_time_per_step_ns(slice.share() * run.steps().time_mean_ns());
      slice.set_time_ns(seen * slice.time_ns());
    }
    device->set_kernel_time_ns(
        static_cast<uint64_t>(seen * static_cast<double>(device->kernel_time_ns())));
    device->set_energy_joules(&run == &runs[0] ? 100 : 1000);  // start-up took ten times as long
    run.mutable_efficiency()->set_joules_per_step(2);
  }
  EXPECT_FALSE(Diff(runs[0], runs[1]).HasDifference());
}

TEST(DiffTest, FlopsOfOthersAreNotOfTheseKernels) {
  RunMaker maker(13);
  std::vector<Summary> runs = {maker.Make({}), maker.Make({})};
  runs[0].mutable_devices(0)->set_flops(1e12);
  runs[1].mutable_devices(0)->set_flops(3e12);
  EXPECT_TRUE(Diff(runs[0], runs[1]).HasDifference());
  runs[1].mutable_capture()->set_kernel_time_without_counters_share(0.9);
  EXPECT_FALSE(Diff(runs[0], runs[1]).HasDifference());
}

TEST(DiffTest, TotalsAreKnownNoBetterThanTheirErrors) {
  RunMaker maker(14);
  std::vector<Summary> runs = {maker.Make({}), maker.Make({})};
  for (Summary& run : runs) {
    DeviceSummary* device = run.mutable_devices(0);
    const double more = &run == &runs[0] ? 1 : 1.1;
    device->set_flops(more * 1e12);
    device->set_dram_read_bytes(more * 1e12);
    device->set_dram_write_bytes(more * 1e10);
  }
  EXPECT_TRUE(Diff(runs[0], runs[1]).HasDifference());
  for (Summary& run : runs) {
    run.mutable_devices(0)->set_flops_error(0.05e12);
    run.mutable_devices(0)->set_dram_bytes_error(0.05e12);
  }
  EXPECT_FALSE(Diff(runs[0], runs[1]).HasDifference());
}

// NVML's power is the mean of the last second, so that of a short run is still rising.
TEST(DiffTest, PowerThatStillRisesIsNotKnownWell) {
  RunMaker maker(15);
  std::vector<Summary> runs = {maker.Make({}), maker.Make({})};
  for (Summary& run : runs) {
    const bool first = &run == &runs[0];
    run.mutable_devices(0)->set_power_watts(first ? 300 : 330);
    TimelineSeries* power = run.add_timeline();
    power->set_name("power_watts");
    power->set_start_ns(0);
    power->set_interval_ns(10'000'000);
    for (int i = 0; i < 200; ++i) power->add_value(first ? 300 : 230 + i);
  }
  EXPECT_EQ(Quantity(Diff(runs[0], runs[1]), "power_watts").verdict, Verdict::kNoDifference);
  for (double& value : *runs[1].mutable_timeline(0)->mutable_value()) value = 330;
  EXPECT_EQ(Quantity(Diff(runs[0], runs[1]), "power_watts").verdict, Verdict::kIncrease);
}

// A median step of the window would leave out what the slow ones take.
TEST(DiffTest, KernelTimeOfAStepIsThatOfTheSteps) {
  RunMaker maker(16);
  std::vector<Summary> runs = {maker.Make({}), maker.Make({})};
  for (Summary& run : runs) {
    run.mutable_steps()->set_kernel_time_ns(8e6);
    run.mutable_steps()->set_time_p50_ns(9e6);
    run.mutable_steady_state()->set_time_ns(static_cast<double>(run.devices(0).steady_state_ns()));
  }
  runs[1].mutable_steady_state()->set_pauses(1);
  EXPECT_EQ(Quantity(Diff(runs[0], runs[1]), "kernel_time_ns").verdict, Verdict::kNoDifference);
}

TEST(DiffTest, UnknownIsNotZero) {
  RunMaker maker(7);
  Summary before = maker.Make({});
  const Summary after = maker.Make({});
  before.mutable_devices(0)->set_hfu(0.4);
  const Difference difference = Diff(before, after);
  EXPECT_EQ(Quantity(difference, "hfu").verdict, Verdict::kUnknown);
  EXPECT_FALSE(Quantity(difference, "hfu").Delta().has_value());
  EXPECT_FALSE(difference.HasDifference());
}

TEST(DiffTest, PairsCancelWhatBothRunsOfAPairShare) {
  std::vector<Summary> before;
  std::vector<Summary> after;
  RunMaker maker(8);
  for (const double drift : {1.0, 1.1, 1.25, 0.9, 1.3}) {
    before.push_back(maker.Make({.step_ns = 10e6 * drift}));
    after.push_back(maker.Make({.step_ns = 10.5e6 * drift}));
  }
  EXPECT_EQ(Quantity(DiffRuns(before, after), "step_time_ns").verdict, Verdict::kIncrease);
  after.pop_back();
  EXPECT_EQ(Quantity(DiffRuns(before, after), "step_time_ns").verdict, Verdict::kNoDifference);
}

TEST(DiffTest, WithoutStepsTimesArePerRun) {
  RunMaker maker(9);
  Summary before = maker.Make({});
  Summary after = maker.Make({.steps = 200});
  before.clear_steps();
  after.clear_steps();
  const Difference difference = Diff(before, after);
  EXPECT_FALSE(difference.per_step);
  EXPECT_EQ(Quantity(difference, "wall_ns").verdict, Verdict::kIncrease);
}

TEST(DiffTest, SaysWhatMakesTheSidesHardToCompare) {
  RunMaker maker(10);
  Summary before = maker.Make({});
  const Summary after = maker.Make({});
  before.mutable_devices(0)->set_name("NVIDIA A100");
  before.mutable_capture()->set_counter_source(SOURCE_TIME_ONLY);
  before.mutable_run()->set_finished(false);
  const Difference difference = Diff(before, after);
  ASSERT_EQ(difference.caveats.size(), 3u);
  EXPECT_THAT(difference.caveats[0], HasSubstr("NVIDIA A100 before, NVIDIA H200 after"));
  EXPECT_THAT(difference.caveats[1], HasSubstr("time_only before, sampled after"));
}

// Shares of time are known no better than the steps' time, from which what tracing added was taken.
TEST(DiffTest, WhatIsPerTimeIsKnownNoBetterThanTheStep) {
  RunMaker maker(9);
  Summary before = maker.Make({});
  Summary after = maker.Make({});
  for (Summary* run : {&before, &after}) {
    run->mutable_steps()->set_slowdown_time_ns(1e6);
    run->mutable_steps()->set_slowdown_error_ns(run->steps().time_mean_ns() * 0.2);
    run->mutable_devices(0)->set_hfu_error(0);
  }
  before.mutable_devices(0)->set_hfu(0.40);
  after.mutable_devices(0)->set_hfu(0.45);
  before.mutable_devices(0)->set_gpu_busy_share(0.6);
  after.mutable_devices(0)->set_gpu_busy_share(0.7);
  const Difference difference = Diff(before, after);
  EXPECT_EQ(Quantity(difference, "hfu").verdict, Verdict::kNoDifference);
  EXPECT_EQ(Quantity(difference, "gpu_busy_share").verdict, Verdict::kNoDifference);
}

// The list has each traced step once, whatever it stands for; the summary's median weighs them.
TEST(DiffTest, TheMedianStepIsThatOfAllStepsTracedOrNot) {
  RunMaker maker(17);
  Summary run = maker.Make({});
  const double listed_ns = run.steps().time_p50_ns();
  run.mutable_steps()->set_time_p50_ns(1.2 * listed_ns);
  EXPECT_DOUBLE_EQ(MedianStepTime(run)->value, 1.2 * listed_ns);
  run.mutable_steps()->set_slowdown_time_ns(1e6);
  EXPECT_DOUBLE_EQ(MedianStepTime(run)->value, 1.2 * listed_ns) << "without it already";
  EXPECT_DOUBLE_EQ(MedianStepTime(AsTraced(run))->value, 1.2 * listed_ns + 1e6);
  run.mutable_steps()->clear_time_p50_ns();
  EXPECT_FALSE(MedianStepTime(run).has_value());
}

TEST(DiffTest, EmptySidesAreSaidToBeEmpty) {
  EXPECT_THAT(DiffRuns({}, {}).verdict, HasSubstr("no run"));
  EXPECT_THAT(Diff(Summary(), Summary()).verdict, Not(IsEmpty()));
}

TEST(DiffTest, AFactorIsNoChanceThoughTheSlowSideIsHardlyKnown) {
  const DiffOptions options;
  const TestOptions test = {.family_size = 17, .options = &options};
  const Estimates slow = {Estimate{4e6, 1e6}};
  const Estimates fast = {Estimate{0.7e6, 0.01e6}};
  EXPECT_EQ(CompareEstimates(slow, fast, test).verdict, Verdict::kDecrease);
  EXPECT_EQ(CompareEstimates(fast, slow, test).verdict, Verdict::kIncrease);
  const Estimates less_slow = {Estimate{2.2e6, 0.05e6}};
  EXPECT_EQ(CompareEstimates(slow, less_slow, test).verdict, Verdict::kNoDifference);
  // What is nearly nothing on one side has no ratio that is known, and no ratio what is below zero.
  EXPECT_EQ(CompareEstimates({Estimate{1.4e6, 5e4}}, {Estimate{1e4, 5e4}}, test).verdict,
            Verdict::kDecrease);
  EXPECT_EQ(CompareEstimates({Estimate{-1, 0.1}}, {Estimate{1, 0.1}}, test).verdict,
            Verdict::kIncrease);
}

}  // namespace
}  // namespace utlz
