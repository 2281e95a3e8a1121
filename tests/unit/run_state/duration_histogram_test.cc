#include "collector/run/duration_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace utlz {
namespace {

TEST(DurationHistogramTest, QuantilesAreWithinABucket) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> durations(9, 2);
  DurationHistogram histogram;
  std::vector<uint64_t> values;
  for (int i = 0; i < 20000; ++i) {
    values.push_back(static_cast<uint64_t>(durations(random)));
    histogram.Add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double share : {0.01, 0.25, 0.5, 0.9, 0.99}) {
    const auto exact = static_cast<double>(values[static_cast<size_t>(share * 20000)]);
    EXPECT_NEAR(histogram.QuantileNs(share), exact, 0.04 * exact + 1) << share;
  }
  EXPECT_EQ(histogram.QuantileNs(0), static_cast<double>(values.front()));
  EXPECT_EQ(histogram.QuantileNs(1), static_cast<double>(values.back()));
}

TEST(DurationHistogramTest, KeepsSumsAndExtremesExactly) {
  DurationHistogram histogram;
  for (const uint64_t value :
       {uint64_t{0}, uint64_t{1}, uint64_t{63}, uint64_t{64}, uint64_t{1} << 62}) {
    histogram.Add(value);
  }
  EXPECT_EQ(histogram.count(), 5u);
  EXPECT_EQ(histogram.sum_ns(), 128u + (uint64_t{1} << 62));
  EXPECT_EQ(histogram.minimum_ns(), 0u);
  EXPECT_EQ(histogram.maximum_ns(), uint64_t{1} << 62);
}

TEST(DurationHistogramTest, MeanAndDeviation) {
  DurationHistogram histogram;
  for (const uint64_t value : {2, 4, 4, 4, 5, 5, 7, 9}) histogram.Add(value);
  EXPECT_DOUBLE_EQ(histogram.mean_ns(), 5);
  EXPECT_NEAR(histogram.standard_deviation_ns(), std::sqrt(32.0 / 7), 1e-9);
}

TEST(DurationHistogramTest, SlicesMakeUpTheWhole) {
  DurationHistogram histogram;
  for (uint64_t i = 0; i < 100; ++i) {
    histogram.Add(1000 + i);
    histogram.Add(50'000 + 10 * i);
  }
  const DurationHistogram fast = histogram.Slice(0, 10'000);
  const DurationHistogram slow = histogram.Slice(10'000, UINT64_MAX);
  EXPECT_EQ(fast.count(), 100u);
  EXPECT_EQ(slow.count(), 100u);
  EXPECT_NEAR(static_cast<double>(fast.sum_ns() + slow.sum_ns()),
              static_cast<double>(histogram.sum_ns()), 2);
  EXPECT_NEAR(fast.mean_ns(), 1049, 30);
  EXPECT_NEAR(slow.QuantileNs(0.5), 50'500, 1600);
}

TEST(DurationHistogramTest, EmptyIsHarmless) {
  const DurationHistogram histogram;
  EXPECT_EQ(histogram.QuantileNs(0.5), 0);
  EXPECT_EQ(histogram.mean_ns(), 0);
  EXPECT_EQ(histogram.Slice(0, 100).count(), 0u);
}

}  // namespace
}  // namespace utlz
