#include "tools/compare/slice_changes.h"

#include <gtest/gtest.h>

#include <iterator>

#include "collector/waterfall_slices.h"
#include "tests/unit/compare/run_maker.h"
#include "tools/compare/diff.h"
#include "tools/compare/slice_names.h"

namespace utlz {
namespace {

TEST(SliceNamesTest, OfCountersAreTheModels) {
  const char* bounds[] = {kSliceMemory, kSliceLatency, kSliceCompute, kSliceMixed, kSliceUnknown};
  const char* work[] = {kSliceTail, kSliceOtherCompute, kSliceClock, kSliceUseful};
  ASSERT_EQ(std::size(kSlicesOfBounds), std::size(bounds));
  for (size_t i = 0; i < std::size(bounds); ++i) EXPECT_STREQ(kSlicesOfBounds[i], bounds[i]);
  ASSERT_EQ(std::size(kSlicesOfWork), std::size(work));
  for (size_t i = 0; i < std::size(work); ++i) EXPECT_STREQ(kSlicesOfWork[i], work[i]);
}

void AddSlice(const char* name, double step_ns, Summary* run) {
  WaterfallSlice* slice = run->mutable_waterfall()->add_slices();
  slice->set_name(name);
  slice->set_time_ns(kUsualSteps * step_ns);
}

// Two kernels, one of 4 ms a step whose bound the test chooses.
Summary RunBoundBy(Bound bound) {
  Summary run = RunMaker(1).Make({.kernels = 2});
  run.mutable_waterfall()->clear_slices();
  const bool latency = bound == BOUND_LATENCY;
  AddSlice(kSliceLatency, latency ? 4e6 : 1e6, &run);
  AddSlice(kSliceMixed, latency ? 1e6 : 4e6, &run);
  AddSlice(kSliceIdleLaunch, 2e6, &run);
  run.mutable_kernels(0)->set_bound(bound);
  run.mutable_kernels(1)->set_bound(BOUND_COMPUTE);
  return run;
}

void ExpectTimeMoved(const Summary& before, const Summary& after) {
  const Difference difference = Diff(before, after);
  EXPECT_EQ(difference.slices[0].time_ns.verdict, Verdict::kDecrease);
  EXPECT_EQ(difference.slices[1].time_ns.verdict, Verdict::kIncrease);
}

TEST(SliceChangesTest, AKernelNearAThresholdIsNoChange) {
  const Summary before = RunBoundBy(BOUND_LATENCY);
  const Summary after = RunBoundBy(BOUND_NEITHER);
  EXPECT_FALSE(Diff(before, after).HasDifference());
}

TEST(SliceChangesTest, AnotherKernelOfAnotherBoundIsAChange) {
  const Summary before = RunBoundBy(BOUND_LATENCY);
  Summary after = RunBoundBy(BOUND_NEITHER);
  after.mutable_kernels(0)->set_mangled_name("_Z5other");
  ExpectTimeMoved(before, after);
}

TEST(SliceChangesTest, AnotherBoundUnderTheRoofOfAnotherGpuIsAChange) {
  const Summary before = RunBoundBy(BOUND_LATENCY);
  Summary after = RunBoundBy(BOUND_NEITHER);
  after.mutable_devices(0)->set_name("NVIDIA H100 80GB HBM3");
  ExpectTimeMoved(before, after);
}

// A rank a GPU, which differ: the kernel's bound differs between them in either run.
TEST(SliceChangesTest, ABoundThatDiffersBetweenGpusOfARunIsNoDoubt) {
  Summary before = RunBoundBy(BOUND_LATENCY);
  before.mutable_devices(0)->set_uuid("GPU-1");
  *before.add_devices() = before.devices(0);
  before.mutable_devices(1)->set_uuid("GPU-2");
  before.mutable_devices(1)->set_name("NVIDIA H100 80GB HBM3");
  *before.add_kernels() = before.kernels(0);
  for (KernelSummary& kernel : *before.mutable_kernels()) kernel.set_device_uuid("GPU-1");
  before.mutable_kernels(2)->set_device_uuid("GPU-2");
  before.mutable_kernels(2)->set_bound(BOUND_NEITHER);
  Summary after = before;
  after.mutable_waterfall()->mutable_slices(0)->set_time_ns(kUsualSteps * 1e6);
  EXPECT_EQ(Diff(before, after).slices[0].time_ns.verdict, Verdict::kDecrease);
}

TEST(SliceChangesTest, WithoutCountersABoundIsUnknown) {
  const Summary before = RunBoundBy(BOUND_LATENCY);
  Summary after = RunBoundBy(BOUND_LATENCY);
  after.mutable_waterfall()->mutable_slices(0)->set_name(kSliceUnknown);
  after.mutable_capture()->set_kernel_time_without_counters_share(0.9);
  const Difference difference = Diff(before, after);
  EXPECT_FALSE(difference.HasDifference());
  EXPECT_EQ(difference.slices[0].time_ns.verdict, Verdict::kUnknown);
  EXPECT_FALSE(difference.slices[0].time_ns.after.has_value());
}

}  // namespace
}  // namespace utlz
