// Runs on GPUs that differ: each kernel is judged by the roof of the one that it ran on.
#include <gtest/gtest.h>

#include <cmath>

#include "collector/waterfall_slices.h"
#include "tests/support/counted_run.h"

namespace utlz {
namespace {

constexpr char kNarrow[] = "GPU-41414141-4141-4141-4141-414141414141";
constexpr char kWide[] = "GPU-42424242-4242-4242-4242-424242424242";

// The second GPU has twice the bandwidth and half the arithmetic; both are as busy.
class NarrowAndWide : public CountedRun {
 public:
  explicit NarrowAndWide(const SummaryOptions& options = {}) : CountedRun(options) {
    AddDevice('B', 10e9, 500);
  }
};

const KernelSummary* FindKernel(const Summary& summary, const std::string& name,
                                const std::string& uuid) {
  for (const KernelSummary& kernel : summary.kernels()) {
    if (kernel.mangled_name() == name && kernel.device_uuid() == uuid) return &kernel;
  }
  return nullptr;
}

double SliceTime(const Summary& summary, std::string_view name) {
  for (const WaterfallSlice& slice : summary.waterfall().slices()) {
    if (slice.name() == name) return slice.time_ns();
  }
  return 0;
}

DeviceCeilings Measured(const std::string& uuid, double flops_per_second) {
  DeviceCeilings ceilings;
  ceilings.set_uuid(uuid);
  ceilings.set_time_ns(17);
  DeviceCeilings::Rate* rate = ceilings.add_rate();
  rate->set_data_type("bf16");
  rate->set_flops_per_second(flops_per_second);
  return ceilings;
}

TEST(DeviceRoofsTest, OneKernelIsBoundByMemoryOnOneGpuAndNotOnTheOther) {
  const Summary summary = NarrowAndWide().Run();
  const KernelSummary* narrow = FindKernel(summary, "nvjet_sm90_tst_a", kNarrow);
  const KernelSummary* wide = FindKernel(summary, "nvjet_sm90_tst_a", kWide);
  ASSERT_TRUE(narrow != nullptr && wide != nullptr);
  EXPECT_EQ(narrow->bound(), BOUND_MEMORY);
  EXPECT_NE(wide->bound(), BOUND_MEMORY);
  EXPECT_NEAR(narrow->dram_peak_share(), 0.8, 0.01);
  EXPECT_NEAR(wide->dram_peak_share(), 0.4, 0.01);
  EXPECT_NEAR(narrow->flops_peak_share(), 0.5, 0.01);
  EXPECT_NEAR(wide->flops_peak_share(), 0.5, 0.01);
  EXPECT_NEAR(narrow->roofline_efficiency(), 0.8, 0.01);
  EXPECT_NEAR(wide->roofline_efficiency(), 0.5, 0.01);
  EXPECT_NEAR(wide->flops() / narrow->flops(), 0.5, 0.01);
}

TEST(DeviceRoofsTest, SumsOverGpusAreOfEachOnesRoof) {
  SummaryOptions options;
  options.work.set_flops_per_step(3e7);
  const Summary summary = NarrowAndWide(options).Run();
  ASSERT_EQ(summary.devices_size(), 2);
  // A step: 20 µs of arithmetic on either; the roofs are 32 + 8 µs and 20 + 4 µs. The first GPU has
  // twice the arithmetic and weighs twice.
  EXPECT_NEAR(summary.efficiency().attainable_hfu(), 60.0 / 104, 0.01);
  EXPECT_NEAR(summary.devices(0).roofline_time_ns() / summary.devices(1).roofline_time_ns(),
              40.0 / 24, 0.02);
  EXPECT_NEAR(summary.efficiency().peak_flops_per_second(), 1.5e12, 1e10);
  EXPECT_NEAR(summary.efficiency().mfu(), 3e7 / (1e-9 * CountedRun::kStepNs) / 1.5e12, 0.003);
  // Of the arithmetic kernel, above what its FLOPs need.
  const double repetitions_ns = CountedRun::kRepetitions * 20e3;
  EXPECT_NEAR(SliceTime(summary, kSliceMemory), repetitions_ns, 0.03 * repetitions_ns);
  const double not_by_memory_ns =
      SliceTime(summary, kSliceCompute) + SliceTime(summary, kSliceMixed);
  EXPECT_NEAR(not_by_memory_ns, repetitions_ns, 0.03 * repetitions_ns);
}

TEST(DeviceRoofsTest, HfuWeighsGpusByWhatTheyCouldHaveDone) {
  SummaryOptions options;
  // What both executed in a step: 20 µs at 1000 FLOPs a nanosecond, and 40 µs at 500.
  options.work.set_flops_per_step(4e7);
  NarrowAndWide run(options);
  run.TensorShare(1);
  const Summary summary = run.Run();
  const double narrow = summary.devices(0).hfu();
  const double wide = summary.devices(1).hfu();
  EXPECT_NEAR(wide / narrow, 2, 0.03);
  const EfficiencySummary& efficiency = summary.efficiency();
  EXPECT_NEAR(efficiency.hfu(), (2 * narrow + wide) / 3, 1e-6);
  EXPECT_NEAR(efficiency.hfu(), efficiency.mfu(), 0.02 * efficiency.mfu());
  EXPECT_NEAR(efficiency.hfu_maximum_clock(), efficiency.hfu() / 2, 1e-6) << "at 1 of 2 GHz";
  EXPECT_NEAR(efficiency.hfu_error(),
              std::hypot(2 * summary.devices(0).hfu_error(), summary.devices(1).hfu_error()) / 3,
              1e-9);
}

TEST(DeviceRoofsTest, CeilingsOfOneGpuAreNoneOfAnother) {
  NarrowAndWide one;
  one.frames().Send(0, FRAME_DEVICE_CEILINGS, Measured(kWide, 4e11));
  const Summary half = one.Run();
  EXPECT_FALSE(FindKernel(half, "nvjet_sm90_tst_a", kNarrow)->has_attained_roofline_time_ns());
  const KernelSummary* wide = FindKernel(half, "nvjet_sm90_tst_a", kWide);
  EXPECT_NEAR(wide->attained_roofline_time_ns() / wide->roofline_time_ns(), 5.0 / 4, 0.01);
  EXPECT_FALSE(half.efficiency().has_attainable_hfu_measured()) << "one was not measured";

  NarrowAndWide both;
  both.frames().Send(0, FRAME_DEVICE_CEILINGS, Measured(kWide, 4e11));
  both.frames().Send(0, FRAME_DEVICE_CEILINGS, Measured(kNarrow, 9e11));
  EXPECT_NEAR(both.Run().efficiency().attainable_hfu_measured(), 60.0 / (80 + 25 + 4), 0.01);
}

}  // namespace
}  // namespace utlz
