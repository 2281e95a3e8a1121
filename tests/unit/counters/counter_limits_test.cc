// Counts that no GPU can make: a counter that wrapped must reach neither totals nor kernels.
#include "collector/counters/counter_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/counted_run.h"

namespace utlz {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const double kWrapped = std::ldexp(1, 40);
// In the middle of a launch of the kernel that reads.
constexpr uint64_t kSample = 100 * CountedRun::kStepNs / CountedRun::kIntervalNs + 4;

const KernelSummary& Reader(const Summary& summary) {
  for (const KernelSummary& kernel : summary.kernels()) {
    if (kernel.dram_read_bytes() > kernel.dram_write_bytes()) return kernel;
  }
  ADD_FAILURE() << "no kernel reads";
  return summary.kernels(0);
}

TEST(CounterLimits, AWrappedCounterReachesNeitherTotalsNorKernels) {
  CountedRun plain;
  const Summary truth = plain.Run();
  CountedRun run;
  run.MisreadSample(kSample, kWrapped);
  const Summary summary = run.Run();
  const DeviceSummary& device = summary.devices(0);
  EXPECT_NEAR(device.dram_read_bytes() / truth.devices(0).dram_read_bytes(), 1, 0.01);
  EXPECT_NEAR(device.hbm_bandwidth_share() / truth.devices(0).hbm_bandwidth_share(), 1, 0.01);
  EXPECT_NEAR(Reader(summary).dram_bytes() / Reader(truth).dram_bytes(), 1, 0.01);
  EXPECT_LT(Reader(summary).dram_bytes_error(), 1.1 * Reader(truth).dram_bytes_error());
  EXPECT_EQ(summary.capture().samples_implausible(), 1u);
  EXPECT_EQ(summary.capture().samples(), truth.capture().samples() - 1);
  EXPECT_THAT(summary.run().notices(),
              Contains(HasSubstr("1 sample of Test GPU GPU-41414141-4141-4141-4141-414141414141 "
                                 "held more than the GPU can count, and was left out.")));
  EXPECT_FALSE(truth.capture().has_samples_implausible());
}

TEST(CounterLimits, WhatPeaksAllowIsCounted) {
  CountedRun run;
  // 4 bytes a nanosecond are read then; the peak is 5, and ends of samples are known no better.
  run.MisreadSample(kSample, 3.4 * CountedRun::kIntervalNs);
  EXPECT_FALSE(run.Run().capture().has_samples_implausible());
  CountedRun beyond;
  beyond.MisreadSample(kSample, 3.6 * CountedRun::kIntervalNs);
  EXPECT_EQ(beyond.Run().capture().samples_implausible(), 1u);
}

TEST(CounterLimits, AreUnknownWithoutPeaks) {
  DevicePeaks peaks;
  EXPECT_TRUE(std::isinf(MostPerNs(METRIC_DRAM_READ_BYTES, peaks)));
  EXPECT_TRUE(std::isinf(MostPerNs(METRIC_TENSOR_ACTIVE, peaks)));
  EXPECT_TRUE(std::isinf(MostPerNs(METRIC_L2_BYTES, peaks)));
  peaks.set_dram_bytes_per_second(4e12);
  peaks.set_sm_clock_maximum_hz(2e9);
  peaks.set_multiprocessors(100);
  EXPECT_DOUBLE_EQ(MostPerNs(METRIC_DRAM_WRITE_BYTES, peaks), 6000);
  EXPECT_DOUBLE_EQ(MostPerNs(METRIC_SM_CYCLES_ELAPSED, peaks), 3);
  EXPECT_DOUBLE_EQ(MostPerNs(METRIC_FMA_INSTRUCTIONS, peaks), 1200);
  EXPECT_TRUE(std::isinf(MostPerNs(METRIC_PCIE_READ_BYTES, peaks)));
}

}  // namespace
}  // namespace utlz
