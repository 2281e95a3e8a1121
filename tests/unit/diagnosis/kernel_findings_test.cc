// The rules of the diagnosis that speak of kernels: a load that makes each speak, and one that
// nearly does.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "collector/diagnosis/findings.h"
#include "tests/support/known_run.h"
#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

// The findings of such a run.
Summary Diagnosed(const std::vector<KnownKernel>& kernels,
                  const std::function<void(Summary*)>& change = {}) {
  KnownRun run(kernels);
  if (change) change(&run.summary);
  SummarizeFindings(run.model, run.analysis, &run.summary);
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
  EXPECT_NEAR(Finding(summary, "unfused_elementwise")->gain_ns(), 1.25e8, 1);
  KnownKernel fused = elementwise;
  fused.name = "one_kernel_for_all";
  EXPECT_EQ(Finding(Diagnosed({fused}), "unfused_elementwise"), nullptr);
  KnownKernel seldom = elementwise;
  seldom.time_ns = 1.9e8;
  EXPECT_EQ(Finding(Diagnosed({seldom}), "unfused_elementwise"), nullptr);
}

TEST(KernelFindingsTest, MatrixProductsBoundByWeights) {
  const KnownKernel decode = {
      .name = "gemv_gemm", .time_ns = 4e8, .compute_ns = 0.1e8, .memory_ns = 3.5e8};
  ASSERT_NE(Finding(Diagnosed({decode}), "bandwidth_bound_matrix"), nullptr);
  KnownKernel compute = decode;
  compute.compute_ns = 3.6e8;
  EXPECT_EQ(Finding(Diagnosed({compute}), "bandwidth_bound_matrix"), nullptr);
  KnownKernel seldom = decode;
  seldom.time_ns = 2.9e8;
  seldom.memory_ns = 2.5e8;
  EXPECT_EQ(Finding(Diagnosed({seldom}), "bandwidth_bound_matrix"), nullptr);
}

TEST(KernelFindingsTest, LatencyBoundKernels) {
  const KnownKernel waiting = {
      .name = "scan", .time_ns = 3e8, .compute_ns = 0.1e8, .memory_ns = 0.6e8};
  const Summary summary = Diagnosed({waiting});
  ASSERT_NE(Finding(summary, "latency_bound_kernels"), nullptr);
  EXPECT_NEAR(Finding(summary, "latency_bound_kernels")->gain_ns(), 2.4e8, 1);
  KnownKernel near_a_roof = waiting;
  near_a_roof.memory_ns = 0.8e8;
  EXPECT_EQ(Finding(Diagnosed({near_a_roof}), "latency_bound_kernels"), nullptr);
  KnownKernel small = waiting;
  small.grid = 10;
  EXPECT_EQ(Finding(Diagnosed({small}), "latency_bound_kernels"), nullptr)
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

TEST(KernelFindingsTest, OneSlowKernel) {
  const auto diagnosed = [](double recoverable_ns, double efficiency) {
    const KnownKernel kernel_time = {.name = "odd_shape_gemm", .time_ns = 5e8};
    return Diagnosed({kernel_time}, [&](Summary* summary) {
      KernelSummary* kernel = summary->add_kernels();
      kernel->set_id(1);
      kernel->set_short_name("odd_shape_gemm");
      kernel->set_recoverable_time_ns(recoverable_ns);
      kernel->set_roofline_efficiency(efficiency);
    });
  };
  ASSERT_NE(Finding(diagnosed(2e8, 0.4), "one_slow_kernel"), nullptr);
  EXPECT_EQ(Finding(diagnosed(2e8, 0.6), "one_slow_kernel"), nullptr);
  EXPECT_EQ(Finding(diagnosed(1e8, 0.4), "one_slow_kernel"), nullptr);
}

}  // namespace
}  // namespace utlz
