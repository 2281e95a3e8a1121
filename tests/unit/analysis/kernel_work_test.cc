// FLOPs of a launch from tensor cycles, by what the kernel's name says, and what follows where
// there are none.
#include "collector/analysis/kernel_work.h"

#include <gtest/gtest.h>

#include "collector/analysis/roofline.h"
#include "collector/analysis/tensor_rates.h"
#include "collector/kernel_names/kernel_class.h"
#include "collector/run/device_table.h"

namespace utlz {
namespace {

constexpr double kMeanTimeNs = 10'000;
constexpr double kTensorCycles = 6000;
constexpr double kFlopsPerCycle = 1000;
constexpr int kMultiprocessors = 100;

Ceilings CeilingsOfChip(const std::string& chip) {
  DeviceState device;
  device.peaks = DevicePeaks();
  device.peaks->set_chip(chip);
  device.peaks->set_sm_clock_maximum_hz(1e9);
  device.info.set_multiprocessors(kMultiprocessors);
  for (const char* data_type : {"bf16", "fp16", "tf32", "int8", "fp64_tensor", "fp64"}) {
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
  return WorkOf(kernel, part, kMeanTimeNs, CeilingsOfChip(chip), "bf16").flops;
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
    const auto flops = WorkOf(kernel, part, kMeanTimeNs, CeilingsOfChip("GH100"), fallback).flops;
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
    EXPECT_EQ(TensorInstructionsOf(name), TensorInstructions::kWarps) << name;
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
    EXPECT_NE(TensorInstructionsOf(name), TensorInstructions::kWarps) << name;
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

// A sub-pipe cannot be active for longer than the whole pipe: one of both counts is wrong.
TEST(KernelWorkTest, NoKernelHasNegativeFlops) {
  DeviceState device;
  device.peaks = DevicePeaks();
  device.peaks->set_sm_clock_maximum_hz(1e9);
  DevicePeaks::Pipe* pipe = device.peaks->add_pipe();
  pipe->set_data_type("bf16");
  pipe->set_flops_per_cycle(kFlopsPerCycle);
  Kernel kernel;
  kernel.mangled_name = "some_gemm";
  KernelPart part = PartWith(
      {{METRIC_TENSOR_ACTIVE, kTensorCycles}, {METRIC_TENSOR_IMMA_ACTIVE, 3 * kTensorCycles}});
  part.counters[METRIC_TENSOR_ACTIVE]->error = 2 * kTensorCycles;
  for (const TypedFlops& flops :
       WorkOf(kernel, part, kMeanTimeNs, CeilingsOf(device), "bf16").flops) {
    EXPECT_GE(flops.flops, 0) << flops.data_type;
  }
}

TEST(KernelWorkTest, NamesOfDoubleGemmsTellThemWithoutTheDoublePipe) {
  for (const auto& [name, share] :
       {std::pair{"sm80_xmma_gemm_f64f64_f64f64_f64_nn_n", 1.0},
        {"dgemm_sm90_64x64", 1.0},
        {"_ZN7cutlass7Kernel2I43cutlass_80_tensorop_d884gemm_64x64_16x4_nnE", 0.5}}) {
    const auto flops = FlopsOf(name, "GH100", PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}}));
    ASSERT_EQ(flops.size(), 1u) << name;
    EXPECT_EQ(flops[0].data_type, "fp64_tensor") << name;
    EXPECT_TRUE(flops[0].assumed);
    EXPECT_NEAR(flops[0].flops, share * kTensorCycles * kFlopsPerCycle, 1) << name;
  }
}

// On GH100 both kinds of instructions are possible, a factor of 1.5 apart.
TEST(KernelWorkTest, WhatTheNameLeavesOpenIsInTheInterval) {
  const KernelPart part = PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}});
  const double of_warps = kTensorCycles * kFlopsPerCycle * 2 / 3;
  const auto untold = FlopsOf("my_attention_bf16", "GH100", part);
  ASSERT_EQ(untold.size(), 1u);
  EXPECT_LE(untold[0].flops - 1.96 * untold[0].error, of_warps);
  const auto told = FlopsOf("nvjet_sm90_tst_64x8", "GH100", part);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_GT(told[0].flops - 1.96 * told[0].error, of_warps);
  const auto elsewhere = FlopsOf("my_attention_bf16", "GA100", part);
  EXPECT_NEAR(elsewhere[0].error, 0.01 * elsewhere[0].flops, 1);
}

// No FLOPs would be a claim.
TEST(KernelWorkTest, AMatrixKernelsUncertainCyclesAreFlopsWithTheirError) {
  KernelPart part = PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}});
  part.counters[METRIC_TENSOR_ACTIVE]->error = 2 * kTensorCycles;
  const auto flops = FlopsOf("nvjet_sm90_tst_64x8", "GH100", part);
  ASSERT_EQ(flops.size(), 1u);
  EXPECT_NEAR(flops[0].error, 2 * flops[0].flops, 1);
  EXPECT_EQ(FlopsOf("my_copy", "GH100", part).size(), 0u);
  EXPECT_EQ(FlopsOf("ampere_sgemm_128x64_tn", "GH100", part).size(), 0u);
}

TEST(KernelWorkTest, ConversionsAreNoConvolutions) {
  EXPECT_FALSE(IsMatrixKernel("convert_dq_to_16bits"));
  EXPECT_TRUE(IsMatrixKernel("_ZN5cudnn6detail23implicit_convolve_sgemm"));
  EXPECT_TRUE(IsMatrixKernel("void conv2d_grouped_direct_kernel"));
}

// Ranges that could not count a type leave it as it was sampled.
TEST(KernelWorkTest, CalibrationReplacesWhatItCounted) {
  Kernel kernel;
  kernel.mangled_name = "nvjet_sm90_tst_64x8";
  const KernelPart part = PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}});
  KernelCalibration calibration;
  calibration.operations["fp8"] = {0, 0};
  auto flops =
      WorkOf(kernel, part, kMeanTimeNs, CeilingsOfChip("GH100"), "bf16", calibration).flops;
  ASSERT_EQ(flops.size(), 1u);
  EXPECT_EQ(flops[0].source, SOURCE_SAMPLED);
  calibration.operations["bf16"] = {5e6, 1e5};
  flops = WorkOf(kernel, part, kMeanTimeNs, CeilingsOfChip("GH100"), "bf16", calibration).flops;
  ASSERT_EQ(flops.size(), 1u);
  EXPECT_EQ(flops[0].flops, 5e6);
  EXPECT_EQ(flops[0].source, SOURCE_CALIBRATED);
}

// What ranges counted of several kernels together is no figure of any where no sample met them.
TEST(KernelWorkTest, WithoutSamplesACountThatMayBeNothingIsNone) {
  Kernel kernel;
  kernel.mangled_name = "max_pool_backward";
  KernelCalibration calibration;
  calibration.operations["fp16"] = {5e6, 3e6};
  const Ceilings ceilings = CeilingsOfChip("GH100");
  EXPECT_TRUE(WorkOf(kernel, {}, kMeanTimeNs, ceilings, "fp16", calibration).flops.empty());
  calibration.operations["fp16"] = {5e6, 1e6};
  EXPECT_EQ(WorkOf(kernel, {}, kMeanTimeNs, ceilings, "fp16", calibration).flops.size(), 1u);
  kernel.mangled_name = "nvjet_sm90_hsh_64x8";
  calibration.operations["fp16"] = {5e6, 3e6};
  const KernelPart sampled = PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}});
  EXPECT_EQ(WorkOf(kernel, sampled, kMeanTimeNs, ceilings, "fp16", calibration).flops.size(), 1u);
}

// Which depth their instructions have is not known then.
TEST(KernelWorkTest, KernelsFoundToUseWarpMmaHaveItsRates) {
  Kernel kernel;
  kernel.mangled_name = "my_attention_bf16";
  const KernelPart part = PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}});
  const KernelCalibration found = {.warp_mma = true, .operations = {}};
  const auto flops =
      WorkOf(kernel, part, kMeanTimeNs, CeilingsOfChip("GH100"), "bf16", found).flops;
  ASSERT_EQ(flops.size(), 1u);
  EXPECT_NEAR(flops[0].flops, kTensorCycles * kFlopsPerCycle * 2 / 3, 1);
  EXPECT_LE(flops[0].flops - 1.96 * flops[0].error, kTensorCycles * kFlopsPerCycle / 2);
}

// Shares of the peak as bench/gpu/mma_rates.py measured them.
TEST(KernelWorkTest, NarrowInstructionsDoLessOnGh100) {
  for (const auto& [name, data_type, share] :
       {std::tuple{"turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", "fp16", 2.0 / 3},
        {"turing_h1688gemm_256x128_ldg8_nn", "fp16", 0.5},
        {"sm90_xmma_fprop_image_first_layer_f16f16_f32_nhwckrsc_nhwc_hmma_k64c4r7s7", "fp16", 0.5},
        {"cutlass_80_tensorop_tf32_s1688gemm_128x128", "tf32", 2.0 / 3},
        {"cutlass_80_wmma_tensorop_i161616gemm_s8_128x128_32x2_nn", "int8", 0.5},
        {"turing_int8_i8816gemm_int8_128x128_ldg16_mma_tn", "int8", 0.25}}) {
    const auto rate = TensorRateOf("GH100", TensorInstructionsOf(name), data_type);
    EXPECT_DOUBLE_EQ(rate.share, share) << name;
    EXPECT_EQ(rate.half_width, 0) << name;
    EXPECT_EQ(TensorRateOf("GA100", TensorInstructionsOf(name), data_type).share, 1) << name;
  }
}

// Addresses, comparisons and conversions run on the same pipe: the interval reaches down to none.
TEST(KernelWorkTest, InstructionsOfTheFmaPipeMayAllBeOther) {
  const KernelPart part =
      PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}, {METRIC_FMA_INSTRUCTIONS, 500}});
  const auto beside = FlopsOf("nvjet_sm90_tst_wgmma", "GH100", part);
  ASSERT_EQ(beside.size(), 2u);
  ASSERT_TRUE(beside[1].by_pipe);
  EXPECT_NEAR(beside[1].flops, 500 * 64 / 2, 1) << "the middle";
  EXPECT_GE(1.959964 * beside[1].error, beside[1].flops);
  const auto elementwise = FlopsOf("_ZN2at6native29vectorized_elementwise_kernelILi4E", "GH100",
                                   PartWith({{METRIC_FMA_INSTRUCTIONS, 500}}));
  ASSERT_EQ(elementwise.size(), 1u);
  EXPECT_GE(1.959964 * elementwise[0].error, elementwise[0].flops);
  const auto alone =
      FlopsOf("ampere_sgemm_128x64_nn", "GH100", PartWith({{METRIC_FMA_INSTRUCTIONS, 500}}));
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_NEAR(alone[0].error, 0.01 * alone[0].flops, 1e-9);
}

// The kernel's code says which of them are arithmetic.
TEST(KernelWorkTest, TheKernelsCodeBoundsItsArithmetic) {
  const KernelPart part = PartWith({{METRIC_FMA_INSTRUCTIONS, 500}});
  Kernel kernel;
  kernel.mangled_name = "_ZN2at6native29vectorized_elementwise_kernelILi4E";
  const auto flops_within = [&](const FlopBounds& bounds) {
    return WorkOf(kernel, part, kMeanTimeNs, CeilingsOfChip("GH100"), "bf16", {}, bounds).flops;
  };
  const auto flops = flops_within({.fp32_least = 9000, .fp32_most = 11000});
  ASSERT_EQ(flops.size(), 1u);
  EXPECT_EQ(flops[0].data_type, "fp32");
  EXPECT_TRUE(flops[0].by_pipe);
  EXPECT_DOUBLE_EQ(flops[0].flops, 10000);
  EXPECT_NEAR(1.959964 * flops[0].error, 1000, 0.1);
  EXPECT_LE(flops[0].assumed_error, flops[0].error);
  EXPECT_EQ(flops_within({}).size(), 0u) << "its instructions are all of addresses";
  const auto halves = flops_within({.half_least = 100, .half_most = 100});
  ASSERT_EQ(halves.size(), 1u);
  EXPECT_EQ(halves[0].data_type, "fp16");
}

// Pairs of 16-bit floats are worked on by the tensor pipe too, which makes no product of matrices.
TEST(KernelWorkTest, TensorCyclesOfPackedArithmeticAreNoTensorWork) {
  constexpr double kFma = kTensorCycles * 4 * kMultiprocessors;
  const KernelPart packed =
      PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}, {METRIC_FMA_INSTRUCTIONS, 1.5 * kFma}});
  const auto flops = FlopsOf("my_scale_and_shift", "GH100", packed);
  ASSERT_EQ(flops.size(), 1u);
  EXPECT_EQ(flops[0].data_type, "fp32");
  EXPECT_NEAR(flops[0].flops, (1.5 + 1.5 + 2) * kFma * 64 / 2, 1)
      << "all of it packed, and as much as two in the tensor pipe";
  const KernelPart little =
      PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}, {METRIC_FMA_INSTRUCTIONS, 40 * kFma}});
  EXPECT_NEAR(FlopsOf("my_scale_and_shift", "GH100", little)[0].flops, (40 + 2 + 2) * kFma * 64 / 2,
              1);
  const KernelPart tensor =
      PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}, {METRIC_FMA_INSTRUCTIONS, 0.5 * kFma}});
  EXPECT_EQ(FlopsOf("my_fused_experts", "GH100", tensor).size(), 2u);
  const auto attention = FlopsOf("flash_fwd_kernel_bfloat16", "GH100", packed);
  ASSERT_EQ(attention.size(), 2u);
  EXPECT_EQ(attention[0].data_type, "bf16");
  EXPECT_NEAR(attention[0].flops, kTensorCycles * kFlopsPerCycle * 2 / 3 / 2, 1);
  EXPECT_GE(1.959964 * attention[0].error, attention[0].flops) << "its name leaves open which";
  const auto product = FlopsOf("flash_fwd_kernel_bfloat16", "GH100", tensor);
  EXPECT_NEAR(product[0].flops, kTensorCycles * kFlopsPerCycle * 2 / 3, 1);
}

// The integers' part of the pipe is not moved by it.
TEST(KernelWorkTest, IntegerProductsAreNoPackedArithmetic) {
  constexpr double kFma = kTensorCycles * 4 * kMultiprocessors;
  const auto flops = FlopsOf("my_quantized_layer", "GH100",
                             PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles},
                                       {METRIC_TENSOR_IMMA_ACTIVE, kTensorCycles},
                                       {METRIC_FMA_INSTRUCTIONS, 2 * kFma}}));
  ASSERT_EQ(flops.size(), 2u);
  EXPECT_EQ(flops[0].data_type, "int8");
  EXPECT_NEAR(flops[0].flops, kTensorCycles * kFlopsPerCycle, 1);
}

TEST(RooflineTest, TheSamplerKnowsMultiprocessorsWhereTheAgentDoesNot) {
  DeviceState device;
  device.peaks.emplace().set_multiprocessors(132);
  EXPECT_EQ(CeilingsOf(device).multiprocessors, 132);
  device.info.set_multiprocessors(100);
  EXPECT_EQ(CeilingsOf(device).multiprocessors, 100);
}

TEST(KernelWorkTest, XlasElementwiseFusionsDoNoTensorWork) {
  const KernelPart part = PartWith({{METRIC_TENSOR_ACTIVE, kTensorCycles}});
  for (const char* name : {"loop_add_fusion", "input_reduce_fusion_2", "wrapped_convert"}) {
    EXPECT_EQ(FlopsOf(name, "GH100", part).size(), 0u) << name;
  }
  EXPECT_EQ(FlopsOf("gemm_fusion_dot_7", "GH100", part).size(), 1u);
}

// Most samples have no counter of the FP64 pipe: what the FMA pipe did is not all.
TEST(KernelWorkTest, WithoutTheirCounterDoublesHaveNoFlops) {
  Kernel kernel;
  kernel.mangled_name = "_Z6vectorIdEvPT_";
  kernel.doubles = true;
  KernelPart part = PartWith({{METRIC_FMA_INSTRUCTIONS, 500}});
  const Ceilings ceilings = CeilingsOfChip("GH100");
  EXPECT_TRUE(WorkOf(kernel, part, kMeanTimeNs, ceilings, "bf16").flops.empty());
  part = PartWith({{METRIC_FMA_INSTRUCTIONS, 500}, {METRIC_FP64_ACTIVE, 100}});
  constexpr double kFp64Flops = 100 * kFlopsPerCycle;
  const auto flops = WorkOf(kernel, part, kMeanTimeNs, ceilings, "bf16").flops;
  ASSERT_EQ(flops.size(), 2u);
  EXPECT_EQ(flops[1].data_type, "fp64");
  EXPECT_NEAR(flops[1].flops + 1.959964 * flops[1].error, kFp64Flops, 0.01 * kFp64Flops);
  EXPECT_NEAR(flops[1].flops - 1.959964 * flops[1].error, kFp64Flops / 2, 0.01 * kFp64Flops);
  EXPECT_TRUE(SpeaksOfDoubles("void vector_fft_r2c<double>"));
}

TEST(KernelWorkTest, FmaInstructionsOfCopiesAreNoFlops) {
  const KernelPart part = PartWith({{METRIC_FMA_INSTRUCTIONS, 1e6}});
  EXPECT_EQ(FlopsOf("_ZN2at6native18CatArrayBatchedCopyINS0_", "GH100", part).size(), 0u);
  const auto flops = FlopsOf("_ZN2at6native29vectorized_elementwise_kernelILi4E", "GH100", part);
  ASSERT_EQ(flops.size(), 1u);
  EXPECT_TRUE(flops[0].by_pipe);
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
