#include "collector/metrics/kernel_worth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace utlz {
namespace {

using ::testing::DoubleEq;
using ::testing::Optional;

KernelRow Row(double launches, double each_ns, double flops, double read_bytes) {
  KernelRow row;
  row.launches = launches;
  row.time_ns = launches * each_ns;
  TypedFlops typed;
  typed.data_type = "bf16";
  typed.flops = flops;
  row.work.flops.push_back(typed);
  row.work.read_bytes = CounterPerLaunch{.value = read_bytes};
  return row;
}

TEST(KernelWorth, InterruptedLaunchesDidWhatTheOthersDid) {
  const std::vector<KernelRow> rows = {Row(9, 100e3, 1e6, 1000), Row(1, 1100e3, 3e6, 50'000)};
  const KernelWorth worth = WorthOf(rows, {}, {.matrix = true, .shared = true});
  EXPECT_DOUBLE_EQ(worth.flops.at("bf16"), 1e6);
  EXPECT_THAT(worth.read_bytes, Optional(DoubleEq(1000)));
  EXPECT_DOUBLE_EQ(worth.flops_share, 1);
  EXPECT_DOUBLE_EQ(worth.bytes_share, 1);
}

TEST(KernelWorth, NobodyInterruptsOnAGpuOfItsOwn) {
  const std::vector<KernelRow> rows = {Row(9, 100e3, 1e6, 1000), Row(1, 1100e3, 3e6, 50'000)};
  const KernelWorth worth = WorthOf(rows, {}, {.matrix = true});
  EXPECT_DOUBLE_EQ(worth.flops.at("bf16"), 1.2e6);
  EXPECT_THAT(worth.read_bytes, Optional(DoubleEq(5900)));
}

TEST(KernelWorth, ShorterThanATurnIsAnotherKindOfWork) {
  const std::vector<KernelRow> rows = {Row(5, 100e3, 1e6, 1000), Row(5, 250e3, 3e6, 3000)};
  const KernelWorth worth = WorthOf(rows, {}, {.matrix = true, .shared = true});
  EXPECT_DOUBLE_EQ(worth.flops.at("bf16"), 2e6);
  EXPECT_THAT(worth.read_bytes, Optional(DoubleEq(2000)));
}

TEST(KernelWorth, FiguresThatAreTooUncertainToShowCount) {
  std::vector<KernelRow> rows = {Row(10, 100e3, 1e6, 1000)};
  rows[0].withheld = "too few counter samples fell in it";
  const KernelWorth worth = WorthOf(rows, {}, {.matrix = true});
  EXPECT_DOUBLE_EQ(worth.flops.at("bf16"), 1e6);
  EXPECT_THAT(worth.read_bytes, Optional(DoubleEq(1000)));
}

TEST(KernelWorth, WhatIsNotKnownOfAMatrixKernelIsNotNothing) {
  std::vector<KernelRow> rows = {Row(10, 100e3, 1e6, 1000)};
  rows[0].work.flops.clear();
  rows[0].work.tensor_active_cycles = CounterPerLaunch{};
  EXPECT_EQ(WorthOf(rows, {}, {.matrix = true}).flops_share, 0);
  EXPECT_EQ(WorthOf(rows, {}, {.matrix = false}).flops_share, 1) << "it has none, which is known";
}

}  // namespace
}  // namespace utlz
