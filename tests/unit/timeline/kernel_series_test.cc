#include "collector/timeline/kernel_series.h"

#include <gtest/gtest.h>

#include "tests/support/nanoseconds.h"

namespace utlz {
namespace {

void RunKernel(uint32_t kernel, uint64_t start_ns, uint64_t duration_ns, KernelSeries* kernels) {
  kernels->Add({.start_ns = start_ns,
                .end_ns = start_ns + duration_ns,
                .kernel = kernel,
                .stream = 0,
                .context = 0,
                .source = 1,
                .kind = ActivityKind::kCompute});
}

constexpr auto kMany = static_cast<uint32_t>(2 * KernelSeries::kMaxKernels);

TEST(KernelSeriesTest, KernelsThatTakeTheTimeHaveSeriesHoweverManyRanBefore) {
  KernelSeries kernels;
  uint64_t now_ns = kSecondNs;
  for (uint32_t i = 0; i < kMany; ++i) RunKernel(i, now_ns += kMillisecondNs, 1000, &kernels);
  for (int step = 0; step < 10; ++step) {
    for (uint32_t i = 0; i < 3; ++i) {
      RunKernel(kMany + i, now_ns += kMillisecondNs, 1000, &kernels);
    }
  }
  EXPECT_EQ(kernels.series().size(), KernelSeries::kMaxKernels);
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(kernels.series().contains(kMany + i));
    EXPECT_EQ(kernels.TimeNs(kMany + i), 10'000u);
    const auto held = kernels.series().at(kMany + i).EstimateBetween(0, UINT64_MAX);
    ASSERT_TRUE(held.has_value());
    EXPECT_NEAR(held->held_ns, 8'000, 1) << "two launches came before it had a place";
  }
}

TEST(KernelSeriesTest, KernelsThatTakeAsMuchAsOthersTakeNoPlaceFromThem) {
  KernelSeries kernels;
  uint64_t now_ns = kSecondNs;
  for (int step = 0; step < 5; ++step) {
    for (uint32_t i = 0; i < kMany; ++i) RunKernel(i, now_ns += kMillisecondNs, 1000, &kernels);
  }
  EXPECT_EQ(kernels.series().size(), KernelSeries::kMaxKernels);
  for (const auto& [kernel, series] : kernels.series()) {
    EXPECT_LT(kernel, KernelSeries::kMaxKernels);
    const auto held = series.EstimateBetween(0, UINT64_MAX);
    ASSERT_TRUE(held.has_value());
    EXPECT_NEAR(held->held_ns, 5'000, 1);
  }
}

}  // namespace
}  // namespace utlz
