// FLOPs of a launch from tensor cycles, by what the kernel's name says, and what follows where
// there are none.
#include "collector/model/kernel_work.h"

#include <gtest/gtest.h>

#include "collector/model/device_table.h"
#include "collector/model/kernel_class.h"
#include "collector/model/roofline.h"

namespace utlz {
namespace {

constexpr double kMeanTimeNs = 10'000;
constexpr double kTensorCycles = 6000;
constexpr double kFlopsPerCycle = 1000;

Ceilings CeilingsOfChip(const std::string& chip) {
  DeviceState device;
  device.peaks.emplace();
  device.peaks->set_chip(chip);
  device.peaks->set_sm_clock_maximum_hz(1e9);
  for (const char* data_type : {"bf16", "tf32", "fp64_tensor"}) {
    DevicePeaks::Pipe* pipe = device.peaks->add_pipe();
    pipe->set_data_type(data_type);
    pipe->set_flops_per_cycle(kFlopsPerCycle);
  }
  return CeilingsOf(device);
}

KernelPart PartWith(std::initializer_list<std::pair<MetricRole, double>> counters) {
  KernelPart part;
  for (const auto& [role, value] : counters) part.counters[role] = {value, 0.01 * value};
  return part;
}

std::vector<TypedFlops> FlopsOf(const std::string& name, const std::string& chip,
                                const KernelPart& part) {
  Kernel kernel;
  kernel.mangled_name = name;
  return WorkOf(kernel, part, kMeanTimeNs, CeilingsOfChip(chip), "bf16", nullptr).flops;
}

// cuDNN names both half types f16: the type that the GPU's other kernels have tells.
TEST(KernelWorkTest, AHalfTypeThatANameLeavesOpenIsTheGpusOwn) {
  const std::string name = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7";
  EXPECT_TRUE(IsOfSomeHalfType(name));
  const KernelPart part = PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}});
  Kernel kernel;
  kernel.mangled_name = name;
  for (const auto& [fallback, expected] :
       {std::pair{"bf16", "bf16"}, {"fp16", "fp16"}, {"fp8", "fp16"}, {"tf32", "fp16"}}) {
    const auto flops =
        WorkOf(kernel, part, kMeanTimeNs, CeilingsOfChip("GH100"), fallback, nullptr).flops;
    ASSERT_EQ(flops.size(), 1u);
    EXPECT_EQ(flops[0].data_type, expected) << fallback;
  }
}

// mma.sync keeps a GH100's pipe active for longer than wgmma does for the same operations.
TEST(KernelWorkTest, WarpMmaDoesTwoThirdsOfThePeakOnGh100) {
  const KernelPart part = PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}});
  for (const char* name :
       {"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_tn",
        "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32",
        "_ZN7cutlass7Kernel2I46cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128E"}) {
    EXPECT_TRUE(UsesWarpMma(name)) << name;
    const auto flops = FlopsOf(name, "GH100", part);
    ASSERT_EQ(flops.size(), 1u) << name;
    EXPECT_EQ(flops[0].data_type, "bf16");
    EXPECT_NEAR(flops[0].flops, kTensorCycles * kFlopsPerCycle * 2 / 3, 1) << name;
    EXPECT_NEAR(flops[0].error, 0.01 * flops[0].flops, 1) << name;
    EXPECT_TRUE(flops[0].assumed);
  }
}

TEST(KernelWorkTest, WarpGroupMmaDoesThePeak) {
  const KernelPart part = PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}});
  for (const char* name : {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT",
                           "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroup",
                           "_Z9my_kernelPf"}) {
    EXPECT_FALSE(UsesWarpMma(name)) << name;
    const auto flops = FlopsOf(name, "GH100", part);
    ASSERT_EQ(flops.size(), 1u) << name;
    EXPECT_NEAR(flops[0].flops, kTensorCycles * kFlopsPerCycle, 1) << name;
  }
}

TEST(KernelWorkTest, OtherChipsHaveNoSuchShare) {
  const auto flops = FlopsOf("sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", "GA100",
                             PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}}));
  ASSERT_EQ(flops.size(), 1u);
  EXPECT_NEAR(flops[0].flops, kTensorCycles * kFlopsPerCycle, 1);
}

TEST(KernelWorkTest, CyclesOfTheDoublePipeAreNotScaled) {
  const auto flops = FlopsOf("sm80_xmma_gemm_f64f64_f64f64_f64_nn_n", "GH100",
                             PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles},
                                       {METRIC_TENSOR_DMMA_ACTIVE, kTensorCycles}}));
  ASSERT_EQ(flops.size(), 1u);
  EXPECT_EQ(flops[0].data_type, "fp64_tensor");
  EXPECT_FALSE(flops[0].assumed);
  EXPECT_NEAR(flops[0].flops, kTensorCycles * kFlopsPerCycle, 1);
}

// Integer multiply-adds of addresses run on the same pipe.
TEST(KernelWorkTest, FmaInstructionsOfCopiesAreNoFlops) {
  const KernelPart part = PartWith({{METRIC_FMA_INSTRUCTIONS, 1e6}});
  EXPECT_EQ(FlopsOf("_ZN2at6native18CatArrayBatchedCopyINS0_", "GH100", part).size(), 0u);
  const auto flops = FlopsOf("_ZN2at6native29vectorized_elementwise_kernelILi4E", "GH100", part);
  ASSERT_EQ(flops.size(), 1u);
  EXPECT_TRUE(flops[0].upper_bound);
}

TEST(KernelWorkTest, WhatMayBeNothingClaimsNoFlops) {
  KernelPart part = PartWith({{METRIC_FMA_INSTRUCTIONS, 1e6}});
  part.counters[METRIC_FMA_INSTRUCTIONS]->error = 0.6e6;
  EXPECT_EQ(FlopsOf("_ZN2at6native29vectorized_elementwise_kernelILi4E", "GH100", part).size(), 0u);
}

TEST(RooflineTest, WithoutItsFlopsAMatrixKernelHasNone) {
  RooflineWork work;
  work.time_ns = 100;
  work.memory_time_ns = 90;
  EXPECT_EQ(RooflineTimeNs(work), 90);
  EXPECT_EQ(BoundOf(work), BOUND_MEMORY);
  work.flops_missing = true;
  EXPECT_EQ(RooflineTimeNs(work), std::nullopt);
  EXPECT_EQ(BoundOf(work), BOUND_UNKNOWN);
}

}  // namespace
}  // namespace utlz
