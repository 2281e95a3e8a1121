#include "tools/report/kernels_of_steps.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

KernelSummary* AddKernel(double window_share, Summary* summary) {
  KernelSummary* kernel = summary->add_kernels();
  kernel->set_steady_state_share(window_share);
  kernel->set_launches(1000);
  kernel->set_time_ns(4e9);
  kernel->set_flops(8e12);
  kernel->set_flops_error(8e10);
  kernel->set_flops_per_second(2e12);
  kernel->set_dram_bytes(2e9);
  kernel->set_dram_bytes_error(2e7);
  kernel->set_dram_bytes_per_second(5e8);
  kernel->set_roofline_time_ns(1e9);
  kernel->set_estimated_savings_ns(3e9);
  kernel->set_estimated_savings_error_ns(1e8);
  return kernel;
}

Summary OfSteps() {
  Summary summary;
  summary.mutable_steady_state()->set_scope("steps");
  AddKernel(1, &summary)->set_name("always");
  AddKernel(0.25, &summary)->set_name("sometimes");
  AddKernel(0, &summary)->set_name("autotuning");
  return summary;
}

TEST(KernelsOfStepsTest, HaveTheirShareOfWhatTheyDid) {
  const Summary shown = WithKernelsOfSteps(OfSteps());
  ASSERT_EQ(shown.kernels_size(), 2) << "one ran before the steps alone";
  const KernelSummary& kernel = shown.kernels(1);
  EXPECT_EQ(kernel.launches(), 250u);
  EXPECT_DOUBLE_EQ(kernel.time_ns(), 1e9);
  EXPECT_DOUBLE_EQ(shown.kernels(0).time_share() + kernel.time_share(), 1);
}

TEST(KernelsOfStepsTest, KeepTheirRates) {
  const Summary shown = WithKernelsOfSteps(OfSteps());
  for (const KernelSummary& kernel : shown.kernels()) {
    EXPECT_DOUBLE_EQ(kernel.flops() / kernel.time_ns() * 1e9, kernel.flops_per_second());
    EXPECT_DOUBLE_EQ(kernel.dram_bytes() / kernel.time_ns() * 1e9,
                     kernel.dram_bytes_per_second());
    EXPECT_DOUBLE_EQ(kernel.flops_error() / kernel.flops(), 0.01);
    EXPECT_DOUBLE_EQ(kernel.roofline_time_ns() + kernel.estimated_savings_ns(), kernel.time_ns());
  }
}

TEST(KernelsOfStepsTest, AreAllOfThemWhereTheReportIsOfTheRun) {
  Summary summary = OfSteps();
  summary.mutable_steady_state()->set_scope("run");
  EXPECT_EQ(WithKernelsOfSteps(summary).SerializeAsString(), summary.SerializeAsString());
  summary = OfSteps();
  summary.mutable_kernels(0)->clear_steady_state_share();
  EXPECT_EQ(WithKernelsOfSteps(summary).SerializeAsString(), summary.SerializeAsString())
      << "of an older release";
}

}  // namespace
}  // namespace utlz
