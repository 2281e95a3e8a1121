#include "collector/summary/waterfall.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "collector/waterfall_slices.h"

namespace utlz {
namespace {

using Slices = std::map<std::string, double>;

constexpr uint64_t kMadeUpStartNs = 100'000;
constexpr uint64_t kFirstNs = 103'000;  // of the first activity
constexpr double kWallNs = 20'000;

// A run whose analysis is made up, so that each slice can be told by hand.
class WaterfallTest : public testing::Test {
 protected:
  WaterfallTest() {
    state_.run_start.emplace().set_time_ns(kMadeUpStartNs);
    summary_.mutable_run()->set_wall_ns(static_cast<uint64_t>(kWallNs));
    process_.strings = {"", "kernel", "ncclDevKernel_AllReduce"};
    process_.variants.resize(2);
    // 20 blocks fit at once: one and a half waves, of which the second is half empty.
    process_.variants[0].name = 1;
    SetSize(30, 1024, &process_.variants[0]);
    process_.variants[1].name = 2;
  }

  static void SetSize(uint32_t grid, uint32_t block, VariantShape* shape) {
    for (int axis = 0; axis < 3; ++axis) {
      shape->grid[axis] = axis == 0 ? grid : 1;
      shape->block[axis] = axis == 0 ? block : 1;
    }
  }

  DeviceAnalysis& AddDevice(char letter) {
    const uint32_t index = *state_.devices.Find(std::string(16, letter));
    DeviceState& device = state_.devices[index];
    device.used = true;
    device.info.set_compute_capability_major(9);
    device.info.set_compute_capability_minor(0);
    device.info.set_multiprocessors(10);
    Activity activity{};
    activity.start_ns = kFirstNs;
    activity.end_ns = kFirstNs + 1'000;
    activity.kind = ActivityKind::kCompute;
    device.sweep.Add(activity);
    device.sweep.AdvanceTo(UINT64_MAX);
    DeviceAnalysis& analysis = analysis_.devices.emplace_back();
    analysis.ceilings.clock_hz = analysis.ceilings.clock_maximum_hz = 2e9;
    return analysis;
  }

  KernelRow& AddKernel(double time_ns, uint32_t variant = 0, uint32_t device = 0) {
    KernelRow& row = analysis_.rows.emplace_back();
    row.kernel = state_.kernels.Find(&process_, variant, device);
    row.time_ns = row.roofline.time_ns = time_ns;
    return row;
  }

  static void Spend(double time_ns, TimeCategory category, DeviceAnalysis* device) {
    device->part.content.time_ns[static_cast<size_t>(category)] += time_ns;
  }

  void TakeSteps(uint64_t start_ns) {
    analysis_.steady.steps = StepsSpan{.start_ns = start_ns, .end_ns = start_ns + 1};
  }

  Slices Made() {
    SummarizeWaterfall(state_, analysis_, &summary_);
    Slices slices;
    double shares = 0;
    for (const WaterfallSlice& slice : summary_.waterfall().slices()) {
      slices[slice.name()] = slice.time_ns();
      shares += slice.share();
    }
    EXPECT_NEAR(shares, 1, 1e-9) << "slices are the whole";
    return slices;
  }

  RunState state_;
  Analysis analysis_;
  ProcessState process_;
  Summary summary_;
};

TEST_F(WaterfallTest, AKernelsTimeIsWhatItsFlopsNeedAndWhatHeldItUp) {
  DeviceAnalysis& device = AddDevice('a');
  device.ceilings.clock_hz = 1.6e9;
  Spend(2'000, TimeCategory::kCompute, &device);
  KernelRow& row = AddKernel(1'000);
  row.roofline.compute_time_ns = 400;
  row.roofline.other_compute_time_ns = 100;
  row.roofline.memory_time_ns = 200;
  const Slices slices = Made();
  EXPECT_NEAR(slices.at(kSliceUseful), 480, 1e-6);
  EXPECT_NEAR(slices.at(kSliceClock), 120, 1e-6);
  EXPECT_NEAR(slices.at(kSliceOtherCompute), 200, 1e-6);
  EXPECT_NEAR(slices.at(kSliceTail), 500, 1e-6);
  EXPECT_NEAR(slices.at(kSliceMixed), 700, 1e-6);
}

TEST_F(WaterfallTest, ATailHidesBehindTheRoof) {
  DeviceAnalysis& device = AddDevice('a');
  Spend(2'000, TimeCategory::kCompute, &device);
  KernelRow& row = AddKernel(1'000);
  row.roofline.compute_time_ns = 400;
  row.roofline.memory_time_ns = 900;
  const Slices slices = Made();
  EXPECT_NEAR(slices.at(kSliceTail), 200, 1e-6);
  EXPECT_NEAR(slices.at(kSliceMemory), 1'000, 1e-6);
  EXPECT_NEAR(slices.at(kSliceUseful), 800, 1e-6);
}

TEST_F(WaterfallTest, AClockAboveItsMaximumMakesNothingMoreUseful) {
  DeviceAnalysis& device = AddDevice('a');
  device.ceilings.clock_hz = 2.2e9;
  Spend(1'000, TimeCategory::kCompute, &device);
  AddKernel(1'000).roofline.compute_time_ns = 750;
  const Slices slices = Made();
  EXPECT_NEAR(slices.at(kSliceUseful), 750, 1e-6);
  EXPECT_FALSE(slices.contains(kSliceClock));
}

TEST_F(WaterfallTest, GapsAreToldApart) {
  DeviceAnalysis& device = AddDevice('a');
  Spend(10, TimeCategory::kTurnaroundGap, &device);
  Spend(20, TimeCategory::kLaunchGap, &device);
  Spend(30, TimeCategory::kReadbackGap, &device);
  Spend(40, TimeCategory::kUploadGap, &device);
  Spend(50, TimeCategory::kOtherGap, &device);
  Spend(60, TimeCategory::kPageableCopy, &device);
  Spend(70, TimeCategory::kCommunication, &device);
  Spend(80, TimeCategory::kCompute, &device);
  const Slices slices = Made();
  EXPECT_EQ(slices.at(kSliceIdleTurnaround), 10);
  EXPECT_EQ(slices.at(kSliceIdleLaunch), 20);
  EXPECT_EQ(slices.at(kSliceIdleReadback), 30);
  EXPECT_EQ(slices.at(kSliceIdleInput), 40);
  EXPECT_EQ(slices.at(kSliceIdleOther), 50);
  EXPECT_EQ(slices.at(kSliceCopies), 60);
  EXPECT_EQ(slices.at(kSliceCommunication), 70);
  EXPECT_EQ(slices.at(kSliceUnknown), 80) << "no kernel is known to have run";
  EXPECT_EQ(slices.at(kSliceOutside), kWallNs - 360);
}

TEST_F(WaterfallTest, ComputeTimeIsNotDividedAmongCommunicationKernels) {
  DeviceAnalysis& device = AddDevice('a');
  Spend(1'000, TimeCategory::kCompute, &device);
  AddKernel(500).roofline.compute_time_ns = 500;
  AddKernel(500, 1);
  EXPECT_NEAR(Made().at(kSliceUseful), 1'000, 1e-6);
}

TEST_F(WaterfallTest, StartUpIsFromTheRunsStartToTheFirstStep) {
  DeviceAnalysis& device = AddDevice('a');
  TakeSteps(kMadeUpStartNs + 9'000);
  device.part.untraced_before_ns = 2'000;
  device.part.untraced_after_ns = 500;
  device.part.pause_ns = 300;
  device.part.slowdown_ns = 200;
  Spend(400, TimeCategory::kUntraced, &device);
  Spend(5'000, TimeCategory::kOtherGap, &device);
  const Slices slices = Made();
  EXPECT_EQ(slices.at(kSliceStartUp), 7'000);
  EXPECT_EQ(slices.at(kSliceUntraced), 2'900);
  EXPECT_EQ(slices.at(kSlicePauses), 300);
  EXPECT_EQ(slices.at(kSliceSlowdown), 200);
  EXPECT_EQ(slices.at(kSliceEnd), kWallNs - 7'000 - 2'900 - 300 - 200 - 5'000);
}

TEST_F(WaterfallTest, WithoutARunsStartItIsFromTheFirstActivity) {
  AddDevice('a');
  state_.run_start.reset();
  TakeSteps(kFirstNs + 4'000);
  EXPECT_EQ(Made().at(kSliceStartUp), 4'000);
}

TEST_F(WaterfallTest, StartUpIsNeitherNegativeNorMoreThanWasLeft) {
  DeviceAnalysis& device = AddDevice('a');
  TakeSteps(kMadeUpStartNs + 1'000);
  device.part.untraced_before_ns = 2'000;
  Spend(5'000, TimeCategory::kOtherGap, &device);
  EXPECT_FALSE(Made().contains(kSliceStartUp));
  summary_.Clear();
  summary_.mutable_run()->set_wall_ns(static_cast<uint64_t>(kWallNs));
  device.part.untraced_before_ns = 0;
  TakeSteps(kMadeUpStartNs + 90'000);
  const Slices slices = Made();
  EXPECT_EQ(slices.at(kSliceStartUp), kWallNs - 5'000);
  EXPECT_FALSE(slices.contains(kSliceEnd));
}

TEST_F(WaterfallTest, TwoGpusAreTwiceTheTimeAndOneThatIsNotUsedIsNone) {
  for (const char letter : {'a', 'b', 'c'}) {
    DeviceAnalysis& device = AddDevice(letter);
    Spend(4'000, TimeCategory::kLaunchGap, &device);
    Spend(1'000, TimeCategory::kOtherGap, &device);
  }
  state_.devices[2].used = false;
  const Slices slices = Made();
  EXPECT_EQ(summary_.waterfall().total_ns(), 2 * kWallNs);
  EXPECT_EQ(slices.at(kSliceIdleLaunch), 8'000);
  for (const WaterfallSlice& slice : summary_.waterfall().slices()) {
    const double share = slice.name() == kSliceIdleLaunch  ? 0.8
                         : slice.name() == kSliceIdleOther ? 0.2
                                                           : 0;
    EXPECT_NEAR(slice.steady_state_share(), share, 1e-9) << slice.name();
  }
}

TEST_F(WaterfallTest, ActivityBeyondTheWallIsPartOfTheWhole) {
  AddDevice('a');
  summary_.mutable_run()->set_wall_ns(10);
  Made();
  EXPECT_EQ(summary_.waterfall().total_ns(), 1'000);
}

}  // namespace
}  // namespace utlz
