// Work that no report may show: more than the hardware can do, or mostly error.
#include "collector/analysis/withheld_work.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

constexpr double kLaunchesOfARow = 100;
constexpr double kTimeNs = 1e6;  // of all launches
constexpr double kBytesPerSecond = 4e12;
constexpr double kFlopsPerSecond = 1e15;

Ceilings MadeUpCeilings() {
  Ceilings ceilings;
  ceilings.dram_bytes_per_second = kBytesPerSecond;
  ceilings.clock_hz = 1e9;
  ceilings.flops_per_cycle["bf16"] = kFlopsPerSecond / ceilings.clock_hz;
  return ceilings;
}

// Of one launch; `errors` are standard errors as shares of what they belong to.
KernelRow RowOf(double bytes_per_second, double bytes_error, double flops_per_second,
                double flops_error) {
  KernelRow row;
  row.launches = kLaunchesOfARow;
  row.time_ns = kTimeNs;
  const double per_launch = kTimeNs * 1e-9 / kLaunchesOfARow;
  const double bytes = bytes_per_second * per_launch / 2;
  row.work.read_bytes = {.value = bytes, .error = bytes_error * bytes};
  row.work.write_bytes = {.value = bytes, .error = bytes_error * bytes};
  const double flops = flops_per_second * per_launch;
  row.work.flops = {{.data_type = "bf16", .flops = flops, .error = flops_error * flops}};
  for (RooflineWork* roofline : {&row.roofline, &row.attained}) {
    roofline->time_ns = kTimeNs;
    roofline->memory_time_ns = kTimeNs * bytes_per_second / kBytesPerSecond;
    roofline->compute_time_ns = kTimeNs * flops_per_second / kFlopsPerSecond;
  }
  return row;
}

KernelRow Judged(KernelRow row) {
  WithholdUncertain(MadeUpCeilings(), &row);
  return row;
}

TEST(WithheldWorkTest, WhatIsPossibleStays) {
  const KernelRow row = Judged(RowOf(2e12, 0.05, 0.5e15, 0.05));
  EXPECT_TRUE(row.withheld.empty());
  EXPECT_EQ(row.work.flops.size(), 1u);
  EXPECT_EQ(RooflineTimeNs(row.roofline), kTimeNs / 2);
}

TEST(WithheldWorkTest, RatesAboveThePeaksAreWithheld) {
  const KernelRow bytes = Judged(RowOf(8e12, 0.03, 0.1e15, 0.05));
  EXPECT_NE(bytes.withheld.find("more bytes than the memory can move"), std::string::npos);
  EXPECT_FALSE(bytes.work.read_bytes.has_value());
  EXPECT_FALSE(RooflineTimeNs(bytes.roofline).has_value());
  const KernelRow flops = Judged(RowOf(1e12, 0.03, 1.5e15, 0.05));
  EXPECT_NE(flops.withheld.find("more FLOPs than the GPU can do"), std::string::npos);
  EXPECT_TRUE(flops.work.flops.empty());
}

TEST(WithheldWorkTest, ARateAboveThePeakByItsErrorIsThePeak) {
  const KernelRow row = Judged(RowOf(4.1e12, 0.05, 0.1e15, 0.05));
  EXPECT_TRUE(row.withheld.empty());
  EXPECT_EQ(RooflineTimeNs(row.roofline), kTimeNs);
}

TEST(WithheldWorkTest, BytesThatAreMostlyErrorAreWithheld) {
  const KernelRow row = Judged(RowOf(2e12, 1.0, 0.1e15, 0.05));
  EXPECT_NE(row.withheld.find("error exceeds half of the bytes"), std::string::npos);
}

// "At most" three times what the GPU can do says nothing; "at most" a tenth of it says something.
TEST(WithheldWorkTest, FlopsBetweenNothingAndTheImpossibleAreUnknown) {
  const KernelRow nothing = Judged(RowOf(2e12, 0.05, 0.9e15, 1.5));
  EXPECT_TRUE(nothing.withheld.empty()) << "its bytes are known";
  EXPECT_TRUE(nothing.flops_uncertain);
  EXPECT_EQ(nothing.work.flops.size(), 1u) << "the device's sum needs it";
  EXPECT_FALSE(nothing.roofline.compute_time_ns.has_value());
  EXPECT_FALSE(RooflineTimeNs(nothing.roofline).has_value());
  const KernelRow neither = Judged(RowOf(2e12, 1.0, 0.9e15, 1.5));
  EXPECT_FALSE(neither.withheld.empty());
  EXPECT_TRUE(neither.flops_uncertain);
  const KernelRow something = Judged(RowOf(2e12, 0.05, 0.02e15, 1.5));
  EXPECT_FALSE(something.flops_uncertain);
}

}  // namespace
}  // namespace utlz
