// The rules of the diagnosis that speak of kernels: a load that makes each speak, and one that
// nearly does.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "collector/diagnosis/findings.h"
#include "collector/summary/flops_gap.h"
#include "tests/support/known_run.h"
#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

// The findings of such a run.
Summary Diagnosed(const std::vector<KnownKernel>& kernels,
                  const std::function<void(Summary*)>& change = {}) {
  KnownRun run(kernels);
  if (change) change(&run.summary);
  SummarizeFindings(run.state, run.analysis, &run.summary);
  return run.summary;
}

TEST(KernelFindingsTest, SmallBatch) {
  // Ten blocks on a hundred SMs: a tenth of the time would do.
  const KnownKernel tiny = {.name = "gemm", .time_ns = 3e8, .grid = 10};
  const Summary summary = Diagnosed({tiny});
  const FindingSummary* finding = Finding(summary, "small_batch");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(finding->gain_ns(), 2.7e8, 1);
  EXPECT_EQ(Finding(Diagnosed({{.name = "gemm", .time_ns = 3e8, .grid = 100}}), "small_batch"),
            nullptr)
      << "one block for each SM";
  EXPECT_EQ(Finding(Diagnosed({{.name = "gemm", .time_ns = 3e8, .grid = 97}}), "small_batch"),
            nullptr)
      << "tiles seldom fill all SMs";
  EXPECT_EQ(Finding(Diagnosed({{.name = "gemm", .time_ns = 2e8, .grid = 10}}), "small_batch"),
            nullptr)
      << "a fifth of the time";
  KnownKernel at_the_roof = tiny;
  at_the_roof.memory_ns = 2e8;
  EXPECT_EQ(Finding(Diagnosed({at_the_roof}), "small_batch"), nullptr) << "its few blocks suffice";
}

TEST(KernelFindingsTest, SinglePrecisionWhereTensorCoresWouldDo) {
  // FP32 pipes at an eighth of TF32's rate.
  const KnownKernel counted = {
      .name = "some_gemm", .time_ns = 2e8, .compute_ns = 1.5e8, .data_type = "fp32"};
  const Summary with_counters = Diagnosed({counted});
  const FindingSummary* finding = Finding(with_counters, "single_precision");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(finding->gain_ns(), 1.75e8, 1);
  const Summary by_name = Diagnosed({{.name = "ampere_sgemm_128x64_tn", .time_ns = 2e8}});
  EXPECT_NE(Finding(by_name, "single_precision"), nullptr);
  KnownKernel bandwidth = counted;
  bandwidth.memory_ns = 1.8e8;
  bandwidth.name = "ampere_sgemm_128x64_tn";
  const Summary bounded = Diagnosed({bandwidth});
  ASSERT_NE(Finding(bounded, "single_precision"), nullptr);
  EXPECT_NEAR(Finding(bounded, "single_precision")->gain_ns(), 0.2e8, 1) << "memory stays";

  KnownKernel tensor = counted;
  tensor.data_type = "tf32";
  EXPECT_EQ(Finding(Diagnosed({tensor}), "single_precision"), nullptr);
  for (const char* name :
       {"cutlass_80_tensorop_s1688gemm_128x64", "sm80_xmma_gemm_tf32tf32_tf32f32",
        "nvjet_tst_128x256", "vectorized_elementwise_kernel"}) {
    EXPECT_EQ(Finding(Diagnosed({{.name = name, .time_ns = 2e8}}), "single_precision"), nullptr)
        << name;
  }
  KnownKernel seldom = counted;
  seldom.time_ns = 0.9e8;
  EXPECT_EQ(Finding(Diagnosed({seldom}), "single_precision"), nullptr);
}

TEST(KernelFindingsTest, UnfusedElementwiseKernels) {
  const KnownKernel elementwise = {
      .name = "vectorized_elementwise_kernel", .time_ns = 2.5e8, .memory_ns = 2e8};
  const Summary summary = Diagnosed({elementwise});
  ASSERT_NE(Finding(summary, "unfused_elementwise"), nullptr);
  // At 90 % of the roof they would take 2.22e8 ns, of which half is to be had.
  EXPECT_NEAR(Finding(summary, "unfused_elementwise")->gain_ns(), 2e8 / 0.9 / 2, 1);
  KnownKernel fused = elementwise;
  fused.name = "one_kernel_for_all";
  EXPECT_EQ(Finding(Diagnosed({fused}), "unfused_elementwise"), nullptr);
  KnownKernel seldom = elementwise;
  seldom.time_ns = 1.9e8;
  EXPECT_EQ(Finding(Diagnosed({seldom}), "unfused_elementwise"), nullptr);
}

TEST(KernelFindingsTest, ACompiledProgramIsNotToldToCompile) {
  const KnownKernel eager = {
      .name = "vectorized_elementwise_kernel", .time_ns = 2.5e8, .memory_ns = 2e8};
  const KnownKernel fused = {
      .name = "triton_poi_fused_add_relu_3", .time_ns = 2.5e8, .memory_ns = 2e8};
  const Summary summary = Diagnosed({eager, fused});
  EXPECT_EQ(Finding(summary, "unfused_elementwise"), nullptr);
  const FindingSummary* finding = Finding(summary, "eager_beside_compiled");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(finding->gain_ns(), 2e8 / 0.9 / 2, 1) << "of the eager kernel alone";
  EXPECT_NE(finding->evidence().find("vectorized_elementwise_kernel"), std::string::npos);
  EXPECT_EQ(Finding(Diagnosed({fused}), "eager_beside_compiled"), nullptr);
  EXPECT_EQ(Finding(Diagnosed({fused}), "unfused_elementwise"), nullptr);
  KnownKernel seldom = fused;
  seldom.time_ns = 0.4e8;
  EXPECT_NE(Finding(Diagnosed({eager, seldom}), "unfused_elementwise"), nullptr);
}

TEST(KernelFindingsTest, AFusedOptimizerNeedsNoFusing) {
  const KnownKernel optimizer = {
      .name = "_ZN2at6native25multi_tensor_apply_kernelIN12_GLOBAL__N_122FusedAdamMathFunctorEEEv",
      .time_ns = 2.5e8,
      .memory_ns = 2e8};
  EXPECT_EQ(Finding(Diagnosed({optimizer}), "unfused_elementwise"), nullptr);
}

// A product of four rows, if what it reads is weights of two bytes each.
KnownKernel ProductAtDram(const char* name, double write_bytes) {
  return {.name = name,
          .time_ns = 4e8,
          .compute_ns = 0.1e8,
          .memory_ns = 3.5e8,
          .flops = 4e9,
          .read_bytes = 1e9,
          .write_bytes = write_bytes};
}

TEST(KernelFindingsTest, MatrixProductsBoundByWeightsAreARemark) {
  const KnownKernel decode = ProductAtDram("gemv_gemm", 1e6);
  EXPECT_EQ(Finding(Diagnosed({decode}), "bandwidth_bound_matrix"), nullptr) << "no fault";
  ASSERT_NE(FindingBelow(Diagnosed({decode}), "bandwidth_bound_matrix"), nullptr);
  KnownKernel compute = decode;
  compute.compute_ns = 3.6e8;
  EXPECT_EQ(FindingBelow(Diagnosed({compute}), "bandwidth_bound_matrix"), nullptr);
  KnownKernel streams = decode;
  streams.name = "_ZN5cudnn6fusion28compute_dot_do_o_specializedILb1ELi64EEEv";
  EXPECT_EQ(FindingBelow(Diagnosed({streams}), "bandwidth_bound_matrix"), nullptr)
      << "it stands beside products, and is none";
}

TEST(KernelFindingsTest, ProductsBoundByWhatGoesInAndOutAreARemark) {
  const KnownKernel scores = ProductAtDram("some_gemm", 4e9);
  EXPECT_EQ(Finding(Diagnosed({scores}), "memory_bound_products"), nullptr) << "no fault";
  ASSERT_NE(FindingBelow(Diagnosed({scores}), "memory_bound_products"), nullptr);
  KnownKernel compute = scores;
  compute.compute_ns = 3.6e8;
  EXPECT_EQ(FindingBelow(Diagnosed({compute}), "memory_bound_products"), nullptr);
}

// Which of both a product moves shows in what it reads and writes, and in the FLOPs a byte.
TEST(KernelFindingsTest, ProductsThatMoveActivationsDoNotReadWeights) {
  const KnownKernel four_rows = ProductAtDram("some_gemm", 1e6);
  const auto is_of_weights = [](const KnownKernel& kernel,
                                const std::function<void(Summary*)>& change = {},
                                const char* beside = "some_kernel") {
    const Summary summary = Diagnosed({kernel, {.name = beside, .time_ns = 1e6}}, change);
    const bool weights = FindingBelow(summary, "bandwidth_bound_matrix") != nullptr;
    const FindingSummary* others = FindingBelow(summary, "memory_bound_products");
    EXPECT_NE(weights, others != nullptr) << "it is one of both";
    EXPECT_TRUE(others == nullptr || !others->has_gain_ns());
    return weights;
  };
  EXPECT_TRUE(is_of_weights(four_rows));
  KnownKernel scores = four_rows;
  scores.write_bytes = 4e9;
  EXPECT_FALSE(is_of_weights(scores)) << "it writes most";
  KnownKernel unknown = four_rows;
  unknown.write_bytes.reset();
  EXPECT_FALSE(is_of_weights(unknown));
  KnownKernel sixty_rows = four_rows;
  sixty_rows.flops = 60e9;
  EXPECT_FALSE(is_of_weights(sixty_rows)) << "so does an input of many channels";
  const auto generate = [](Summary* summary) {
    summary->mutable_steps()->add_levels()->set_prefill_time_ns(1e6);
  };
  EXPECT_TRUE(is_of_weights(sixty_rows, generate)) << "a batch of requests";
  EXPECT_FALSE(is_of_weights(sixty_rows, generate, "layer_norm_backward")) << "it learns";
  KnownKernel sixteen_rows_of_bytes = sixty_rows;
  sixteen_rows_of_bytes.data_type = "fp8";
  sixteen_rows_of_bytes.flops = 32e9;
  EXPECT_TRUE(is_of_weights(sixteen_rows_of_bytes));
}

TEST(KernelFindingsTest, ProductsOfAFewRows) {
  const KnownKernel narrow = {.name = "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT",
                              .time_ns = 2e8,
                              .compute_ns = 0.1e8,
                              .memory_ns = 1.8e8};
  const KnownKernel wide = {
      .name = "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_NNT", .time_ns = 5e8, .compute_ns = 4e8};
  const Summary both = Diagnosed({narrow, wide});
  ASSERT_NE(Finding(both, "padded_tiles"), nullptr);
  EXPECT_NE(Finding(both, "padded_tiles")->evidence().find("tiles of 8 rows"), std::string::npos);
  EXPECT_EQ(Finding(Diagnosed({narrow}), "padded_tiles"), nullptr) << "that is decoding";
}

TEST(KernelFindingsTest, FamiliesFarBelowTheirRoof) {
  const auto diagnosed = [](const char* name, double roof_ns) {
    return Diagnosed({{.name = name, .time_ns = 4e8, .memory_ns = roof_ns}});
  };
  const char* norm = "batch_norm_collect_statistics_channels_last_kernel";
  const char* pool = "max_pool_backward_nhwc";
  const Summary slow = diagnosed(norm, 0.6e8);
  ASSERT_NE(Finding(slow, "slow_normalization"), nullptr);
  EXPECT_NEAR(Finding(slow, "slow_normalization")->gain_ns(), 4e8 - 0.6e8 / 0.9, 1);
  EXPECT_EQ(Finding(slow, "latency_bound_kernels"), nullptr) << "it fills the GPU";
  EXPECT_EQ(Finding(diagnosed(norm, 3.5e8), "slow_normalization"), nullptr) << "it streams well";
  EXPECT_NE(Finding(diagnosed(pool, 0.6e8), "slow_pooling"), nullptr);
  EXPECT_EQ(Finding(diagnosed(pool, 3.5e8), "slow_pooling"), nullptr) << "it streams well";
  EXPECT_NE(Finding(Diagnosed({{.name = "gemm_a", .time_ns = 4e8, .compute_ns = 1.6e8},
                               {.name = "gemm_b", .time_ns = 4e8, .compute_ns = 1.6e8}}),
                    "slow_matrix"),
            nullptr);
  EXPECT_EQ(
      Finding(Diagnosed({{.name = "gemm_a", .time_ns = 8e8, .compute_ns = 6.2e8}}), "slow_matrix"),
      nullptr)
      << "as good as such products get";
  EXPECT_NE(
      Finding(Diagnosed({{.name = "saxpy", .time_ns = 9e8, .memory_ns = 6e8}}), "slow_streaming"),
      nullptr);
  EXPECT_EQ(
      Finding(Diagnosed({{.name = "saxpy", .time_ns = 9e8, .memory_ns = 8e8}}), "slow_streaming"),
      nullptr);
}

TEST(KernelFindingsTest, FlopsThatTheModelDoesNotNeed) {
  const auto diagnosed = [](double executed) {
    return Diagnosed({{.name = "gemm", .time_ns = 6e8, .compute_ns = 5e8}},
                     [executed](Summary* summary) {
                       EfficiencySummary* efficiency = summary->mutable_efficiency();
                       efficiency->set_model_flops_per_step(1e12);
                       efficiency->set_executed_flops_per_step(executed);
                       FlopsGap* gap = efficiency->add_gap();
                       gap->set_name("padding");
                       gap->set_flops_per_step(executed - 1e12);
                     });
  };
  const Summary padded = diagnosed(2e12);
  ASSERT_NE(Finding(padded, "padding"), nullptr);
  EXPECT_NEAR(Finding(padded, "padding")->gain_ns(), 3e8, 1) << "half of the products' time";
  EXPECT_EQ(Finding(diagnosed(1.2e12), "padding"), nullptr);
}

// What else was executed beyond the model is of padded tokens only where someone counts tokens.
TEST(KernelFindingsTest, AModelWithoutTokensHasNoPadding) {
  const auto is_padding = [](const WorkloadSpec& work, const char* part) {
    KnownRun run({{.name = "gemm", .time_ns = 6e8, .compute_ns = 5e8}});
    run.state.work = work;
    EfficiencySummary* efficiency = run.summary.mutable_efficiency();
    efficiency->set_model_flops_per_step(1e12);
    efficiency->set_executed_flops_per_step(3e12);
    FlopsGap* gap = efficiency->add_gap();
    gap->set_name(part);
    gap->set_flops_per_step(2e12);
    SummarizeFindings(run.state, run.analysis, &run.summary);
    const FindingSummary* finding = Finding(run.summary, "padding");
    if (finding != nullptr) {
      EXPECT_NE(finding->evidence().find("FLOPs are 3.00 × the model's"), std::string::npos)
          << finding->evidence();
    }
    return finding != nullptr;
  };
  WorkloadSpec work;
  work.set_flops_per_step(1e12);
  EXPECT_FALSE(is_padding(work, kGapMore)) << "images";
  work.set_tokens_per_step(1000);
  EXPECT_TRUE(is_padding(work, kGapMore));
  EXPECT_FALSE(is_padding(work, kGapTiles));
  work.set_forward_flops_per_step(1e12 / 3);
  EXPECT_TRUE(is_padding(work, kGapMore)) << "a training";
  work.set_forward_flops_per_step(1e12);
  EXPECT_FALSE(is_padding(work, kGapMore)) << "decoding";
  EXPECT_TRUE(is_padding(work, kGapPadding)) << "as was said";
}

TEST(KernelFindingsTest, LatencyBoundKernels) {
  const KnownKernel waiting = {
      .name = "scan", .time_ns = 1.5e8, .compute_ns = 0.1e8, .memory_ns = 0.27e8};
  const Summary summary = Diagnosed({waiting, waiting});
  ASSERT_NE(Finding(summary, "latency_bound_kernels"), nullptr);
  EXPECT_NEAR(Finding(summary, "latency_bound_kernels")->gain_ns(), 2.4e8, 1);
  KnownKernel near_a_roof = waiting;
  near_a_roof.memory_ns = 0.4e8;
  EXPECT_EQ(Finding(Diagnosed({near_a_roof, near_a_roof}), "latency_bound_kernels"), nullptr);
  KnownKernel small = waiting;
  small.grid = 10;
  EXPECT_EQ(Finding(Diagnosed({small, small}), "latency_bound_kernels"), nullptr)
      << "told once, as a small batch";
}

TEST(KernelFindingsTest, HeatAndNotThePowerCap) {
  const auto diagnosed = [](const char* limit, double clock_hz) {
    return Diagnosed({}, [&](Summary* summary) {
      summary->mutable_devices(0)->add_clock_limits(limit);
      summary->mutable_devices(0)->set_sm_clock_hz(clock_hz);
      summary->mutable_devices(0)->set_sm_clock_maximum_hz(2e9);
    });
  };
  ASSERT_NE(Finding(diagnosed("hardware thermal slowdown", 1.8e9), "thermal_throttling"), nullptr);
  EXPECT_EQ(Finding(diagnosed("power cap", 1.8e9), "thermal_throttling"), nullptr);
  EXPECT_EQ(Finding(diagnosed("hardware thermal slowdown", 1.95e9), "thermal_throttling"), nullptr);
}

// Two findings that promise the same time would promise more than there is.
TEST(KernelFindingsTest, OneSlowKernelIsToldOnce) {
  const KnownKernel slow = {.name = "odd_shape_gemm", .time_ns = 4e8, .compute_ns = 1.6e8};
  const KnownKernel good = {.name = "gemm", .time_ns = 4e8, .compute_ns = 3e8};
  const Summary one = Diagnosed({slow, good});
  ASSERT_NE(Finding(one, "one_slow_kernel"), nullptr);
  EXPECT_NEAR(Finding(one, "one_slow_kernel")->gain_ns(), 2e8, 1);
  EXPECT_NE(Finding(one, "one_slow_kernel")->evidence().find("odd_shape_gemm"), std::string::npos);
  EXPECT_EQ(Finding(one, "slow_matrix"), nullptr);
  const Summary two = Diagnosed({slow, slow});
  EXPECT_EQ(Finding(two, "one_slow_kernel"), nullptr) << "neither of them is most of the loss";
  EXPECT_NE(Finding(two, "slow_matrix"), nullptr);
  EXPECT_EQ(Finding(Diagnosed({good}), "one_slow_kernel"), nullptr);
}

}  // namespace
}  // namespace utlz
