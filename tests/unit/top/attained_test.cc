#include "tools/top/attained.h"

#include <gtest/gtest.h>

namespace utlz::top {
namespace {

// An H100 SXM: 132 SMs of 128 lanes, 5 HBM3 stacks of 1024 bits.
constexpr GpuShape kH100{.compute_capability_major = 9,
                         .compute_capability_minor = 0,
                         .cores = 132 * 128,
                         .memory_clock_mhz = 2619,
                         .memory_bus_bits = 5120};

DeviceCeilings Measured() {
  DeviceCeilings ceilings;
  ceilings.set_copy_bytes_per_second(3.0168e12);  // 90 % of 3.352 TB/s
  DeviceCeilings::Rate* rate = ceilings.add_rate();
  rate->set_data_type("bf16");
  rate->set_sm_clock_hz(1e9);
  rate->set_flops_per_second(0.8 * 4096 * 132 * 1e9);
  return ceilings;
}

TEST(Attained, AreSharesOfThePeaks) {
  const AttainedPercent attained = AttainedOf(Measured(), kH100);
  ASSERT_TRUE(attained.compute && attained.dram);
  EXPECT_NEAR(*attained.compute, 80, 1e-9);
  EXPECT_NEAR(*attained.dram, 90, 0.01);
}

TEST(Attained, WhatIsNotKnownHasNoValue) {
  const AttainedPercent nothing = AttainedOf(Measured(), GpuShape{});
  EXPECT_FALSE(nothing.compute);
  EXPECT_FALSE(nothing.dram);
  GpuShape unknown = kH100;
  unknown.compute_capability_major = 42;
  EXPECT_FALSE(AttainedOf(Measured(), unknown).compute);
  EXPECT_FALSE(AttainedOf(DeviceCeilings(), kH100).compute);
  EXPECT_FALSE(AttainedOf(DeviceCeilings(), kH100).dram);
}

}  // namespace
}  // namespace utlz::top
