#include "collector/analysis/counter_precision.h"

#include <gtest/gtest.h>

#include <string>

#include "collector/run/run_state.h"
#include "tests/support/counted_run.h"

namespace utlz {
namespace {

TEST(CounterPrecisionTest, IsTheWidestIntervalOfAKernelThatMatters) {
  CountedRun run;
  const Summary summary = run.Run();
  const auto precisions = CounterPrecisions(run.frames().intake().state());
  ASSERT_EQ(precisions.size(), 1u);
  EXPECT_EQ(precisions[0].device_uuid, RunBuilder::Uuid());
  EXPECT_EQ(precisions[0].samples, summary.capture().samples());
  EXPECT_GT(precisions[0].imprecision, 0);
  EXPECT_LT(precisions[0].imprecision, 0.05);
}

TEST(CounterPrecisionTest, FewSamplesTellLess) {
  CountedRun many;
  many.Run();
  CountedRun few;
  few.SampleUntil(8);
  few.Run();
  ASSERT_EQ(CounterPrecisions(few.frames().intake().state()).size(), 1u);
  EXPECT_GT(CounterPrecisions(few.frames().intake().state())[0].imprecision,
            CounterPrecisions(many.frames().intake().state())[0].imprecision);
}

TEST(CounterPrecisionTest, NothingIsSaidOfAGpuThatIsNotSampled) {
  CountedRun run;
  run.SampleUntil(0);
  run.Run();
  EXPECT_TRUE(CounterPrecisions(run.frames().intake().state()).empty());
}

// A kernel of another process, which takes a fifth of the time after sampling has ended.
TEST(CounterPrecisionTest, AKernelThatMattersAndIsNotKnownCountsFull) {
  CountedRun run;
  run.frames().StartProcess(2);
  run.frames().SendKernels({"late_c"}, 2);
  run.frames().SendLaunches(
      {RunBuilder::LaunchAt(CountedRun::kRepetitions * CountedRun::kStepNs, 8'000'000, 0)}, 2);
  run.Run();
  ASSERT_EQ(CounterPrecisions(run.frames().intake().state()).size(), 1u);
  EXPECT_EQ(CounterPrecisions(run.frames().intake().state())[0].imprecision, 1);
}

// What an attribution tells of kernels that are made up, one by one.
class ImprecisionTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kKernelNs = 100'000;
  // What a GPU of 1 TB/s and 1 GHz could do in one of them.
  static constexpr double kBytes = 1e8;
  static constexpr double kCycles = 1e5;

  ImprecisionTest() {
    for (const char uuid : {'A', 'B'}) {
      DevicePeaks peaks;
      peaks.set_dram_bytes_per_second(1e12);
      peaks.set_sm_clock_hz(1e9);
      run_state_.devices[*run_state_.devices.Find(std::string(16, uuid))].peaks = peaks;
    }
    process_.strings = {""};
  }

  uint32_t AddKernel(const std::string& name, int launches, uint32_t device = 0,
                     uint64_t duration_ns = kKernelNs) {
    VariantShape shape;
    shape.name = static_cast<uint32_t>(process_.strings.size());
    process_.strings.push_back(name);
    process_.variants.push_back(shape);
    const auto variant = static_cast<uint32_t>(process_.variants.size() - 1);
    const uint32_t kernel = run_state_.kernels.Find(&process_, variant, device);
    for (int i = 0; i < launches; ++i) run_state_.kernels[kernel].durations.Add(duration_ns);
    return kernel;
  }

  static KernelPart PartOf(CounterPerLaunch read, CounterPerLaunch write, CounterPerLaunch tensor) {
    KernelPart part;
    part.counters[METRIC_DRAM_READ_BYTES] = read;
    part.counters[METRIC_DRAM_WRITE_BYTES] = write;
    part.counters[METRIC_TENSOR_ACTIVE] = tensor;
    return part;
  }
  // Of which nothing but the bytes is uncertain.
  static KernelPart PartOf(double bytes, double error) { return PartOf({bytes, error}, {}, {}); }
  void AddKnown(const std::string& name, int launches, const KernelPart& part,
                uint32_t device = 0) {
    attribution_.parts_by_kernel[AddKernel(name, launches, device)] = {part};
  }

  double Imprecision() const { return utlz::Imprecision(run_state_, 0, attribution_); }

  RunState run_state_;
  ProcessState process_;
  Attribution attribution_;
};

TEST_F(ImprecisionTest, IsTheIntervalOfTheBytesReadAndWrittenTogether) {
  AddKnown("a", 1, PartOf({0.9 * kBytes, 0.03 * kBytes}, {0.1 * kBytes, 0.04 * kBytes}, {}));
  EXPECT_NEAR(Imprecision(), 1.96 * 0.05, 1e-5);
}

TEST_F(ImprecisionTest, IsTheIntervalOfTheTensorCyclesWhereThatIsWider) {
  AddKnown("a", 1, PartOf({kBytes, 0.01 * kBytes}, {}, {0.8 * kCycles, 0.08 * kCycles}));
  EXPECT_NEAR(Imprecision(), 1.25 * 1.96 * 0.1, 1e-5) << "4 % of them are worth 5 % of bytes";
}

TEST_F(ImprecisionTest, OfLittleWorkIsThatOfTwoThirdsOfTheRoofline) {
  AddKnown("a", 1, PartOf(0.01 * kBytes, 0.01 * kBytes));
  EXPECT_NEAR(Imprecision(), 1.96 * 0.01 * 1.5, 1e-5);
}

TEST_F(ImprecisionTest, IsNeverMoreThanOfAKernelThatIsNotKnown) {
  AddKnown("a", 1, PartOf(kBytes, 10 * kBytes));
  EXPECT_EQ(Imprecision(), 1);
  attribution_.parts_by_kernel.clear();
  EXPECT_EQ(Imprecision(), 1);
}

TEST_F(ImprecisionTest, ACounterThatIsMissingIsNotKnown) {
  KernelPart part = PartOf(kBytes, 0.01 * kBytes);
  part.counters[METRIC_TENSOR_ACTIVE].reset();
  AddKnown("a", 1, part);
  EXPECT_EQ(Imprecision(), 1);
}

TEST_F(ImprecisionTest, IsTheWorstOfTheKernelsWithAHundredthOfTheTime) {
  AddKnown("a", 500, PartOf(kBytes, 0.01 * kBytes));
  AddKnown("b", 488, PartOf(kBytes, 0.02 * kBytes));
  AddKnown("c", 3, PartOf(kBytes, 0.03 * kBytes));
  AddKernel("too little", 9);
  EXPECT_NEAR(Imprecision(), 1.96 * 0.02, 1e-5);
  AddKernel("enough", 12);
  EXPECT_EQ(Imprecision(), 1);
}

TEST_F(ImprecisionTest, OfSmallKernelsIsThatOfTheLargestThatDoHalfOfTheWork) {
  for (int i = 0; i < 300; ++i) {
    AddKnown("k" + std::to_string(i), 500 - i, PartOf(kBytes, i < 100 ? 0.01 * kBytes : kBytes));
  }
  AddKernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 100'000);
  EXPECT_EQ(Imprecision(), 1) << "the largest hundred do less";
  for (uint32_t i = 100; i < 130; ++i) {
    attribution_.parts_by_kernel[i] = {PartOf(kBytes, 0.01 * kBytes)};
  }
  EXPECT_NEAR(Imprecision(), 1.96 * 0.01, 1e-5);
}

TEST_F(ImprecisionTest, CommunicationAndOtherGpusAreNotAskedOf) {
  AddKnown("a", 10, PartOf(kBytes, 0.01 * kBytes));
  AddKernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 10);
  AddKernel("elsewhere", 100'000, 1);
  EXPECT_NEAR(Imprecision(), 1.96 * 0.01, 1e-5);
  AddKernel("of a twentieth here", 1);
  EXPECT_EQ(Imprecision(), 1) << "what another GPU does takes no time of this one";
}

// Launches of 10 µs, and of 100 µs that do other work.
TEST_F(ImprecisionTest, KindsOfLaunchesOfOneKernelAreKnownApart) {
  const uint32_t kernel = AddKernel("a", 10);
  for (int i = 0; i < 100; ++i) run_state_.kernels[kernel].durations.Add(kKernelNs / 10);
  KernelPart brief = PartOf(0, 0.01 * kBytes);
  brief.maximum_ns = kKernelNs / 2;
  KernelPart lasting = PartOf(0, 0.02 * kBytes);
  lasting.minimum_ns = kKernelNs / 2;
  attribution_.parts_by_kernel[kernel] = {brief, lasting};
  const double expected = 1.96 * 0.01 * 10 * 1.5;  // to within a bucket of durations
  EXPECT_NEAR(Imprecision(), expected, 0.03 * expected) << "of a brief one";
  attribution_.parts_by_kernel[kernel] = {lasting, brief};
  EXPECT_NEAR(Imprecision(), expected, 0.03 * expected) << "in whatever order";
  AddKnown("b", 1200, PartOf(kBytes, 0.01 * kBytes));
  EXPECT_NEAR(Imprecision(), 1.96 * 0.01, 1e-5) << "each takes too little by itself";
}

TEST_F(ImprecisionTest, KernelsThatOnlyTheStartUpRanAreNotAskedOf) {
  constexpr uint64_t kBegin = 1'000'000'000'000;
  const uint32_t start_up = AddKernel("compared by the tuner", 1000);
  AddKnown("step", 1000, PartOf(kBytes, 0.01 * kBytes));
  run_state_.kernels[start_up].last_start_ns = kBegin;
  run_state_.kernels[start_up + 1].last_start_ns = kBegin + 5'000'000'000;
  EXPECT_EQ(Imprecision(), 1) << "it may belong to a long step";
  run_state_.kernels[start_up + 1].last_start_ns = kBegin + 25'000'000'000;
  EXPECT_NEAR(Imprecision(), 1.96 * 0.01, 1e-5);
  const uint32_t elsewhere = AddKernel("elsewhere", 1, 1);
  run_state_.kernels[elsewhere].last_start_ns = kBegin + 90'000'000'000;
  run_state_.kernels[start_up].last_start_ns = kBegin + 24'000'000'000;
  EXPECT_EQ(Imprecision(), 1) << "what another GPU runs later says nothing of this one";
}

TEST_F(ImprecisionTest, OfNoKernelNothingIsKnown) { EXPECT_EQ(Imprecision(), 1); }

}  // namespace
}  // namespace utlz
