#include "collector/counters/sm_clock_under_load.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "collector/counters/device_totals.h"

namespace utlz {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;

TEST(SmClockUnderLoadTest, WeighsByWork) {
  SmClockUnderLoad clock;
  EXPECT_FALSE(clock.hz().has_value());
  clock.Add(0, kMillisecond, 2e9, 0);
  EXPECT_FALSE(clock.hz().has_value());
  clock.Add(kMillisecond, 2 * kMillisecond, 1.5e9, 30);
  clock.Add(2 * kMillisecond, 3 * kMillisecond, 1.8e9, 10);
  EXPECT_DOUBLE_EQ(*clock.hz(), (1.5e9 * 30 + 1.8e9 * 10) / 40);
}

TEST(SmClockUnderLoadTest, HasNoErrorWhereTooLittleWasSeen) {
  SmClockUnderLoad clock;
  // A millisecond each; in every second nothing worked.
  for (uint64_t i = 0; i < 7; ++i) {
    clock.Add(i * kMillisecond, (i + 1) * kMillisecond, 1.5e9 + 1e6 * static_cast<double>(i),
              i % 2 == 0 ? 1 : 0);
    EXPECT_EQ(clock.error_hz().has_value(), i >= 6) << i;
  }
}

TEST(SmClockUnderLoadTest, ASteadyClockIsKnown) {
  SmClockUnderLoad clock;
  for (uint64_t i = 0; i < 5000; ++i)
    clock.Add(i * 10'000, (i + 1) * 10'000, 1.98e9, static_cast<double>(1 + i % 7));
  EXPECT_NEAR(*clock.hz(), 1.98e9, 1);
  EXPECT_NEAR(*clock.error_hz(), 0, 1e3);
}

// A clock that wanders: each millisecond holds 0.9 of the one before it.
double ShareWithinError(uint64_t milliseconds, std::mt19937_64* random) {
  constexpr int kRuns = 300;
  constexpr double kAlike = 0.9;
  std::normal_distribution<double> normal;
  int within = 0;
  for (int run = 0; run < kRuns; ++run) {
    SmClockUnderLoad clock;
    double off = normal(*random);
    for (uint64_t i = 0; i < milliseconds; ++i) {
      clock.Add(i * kMillisecond, (i + 1) * kMillisecond, 1.7e9 + 1e7 * off, 1);
      off = kAlike * off + std::sqrt(1 - kAlike * kAlike) * normal(*random);
    }
    within += std::abs(*clock.hz() - 1.7e9) <= 1.96 * *clock.error_hz() ? 1 : 0;
  }
  return static_cast<double>(within) / kRuns;
}

TEST(SmClockUnderLoadTest, IsWithinItsErrorAsOftenAsThatSays) {
  std::mt19937_64 random(1);
  EXPECT_GT(ShareWithinError(200, &random), 0.92);
  EXPECT_GT(ShareWithinError(3000, &random), 0.94);
}

void AddReading(DeviceTotalsBatch* batch, uint64_t at_ns, uint32_t clock_mhz,
                double active_percent) {
  batch->add_time_ns(at_ns);
  batch->add_sm_clock_mhz(clock_mhz);
  batch->add_gpm_sm_active_percent(static_cast<float>(active_percent));
}

TEST(SmClockUnderLoadTest, StartUpAtALowClockIsNoLoad) {
  DeviceTotalsBatch batch;
  for (uint64_t i = 1; i <= 20; ++i) {
    AddReading(&batch, i * 100 * kMillisecond, i <= 10 ? 345 : 1980, i <= 10 ? 0 : 40);
  }
  DeviceTotals totals;
  ASSERT_TRUE(totals.Add(batch));
  EXPECT_NEAR(*totals.sm_clock_hz(), 1.98e9, 1);
  ASSERT_TRUE(totals.sm_clock_error_hz().has_value());
  EXPECT_NEAR(*totals.sm_clock_error_hz(), 0, 1e3);
}

TEST(SmClockUnderLoadTest, OfADeviceAtRestTheMeanIsSaid) {
  DeviceTotalsBatch batch;
  for (uint64_t i = 1; i <= 20; ++i) AddReading(&batch, i * 100 * kMillisecond, 345, 0);
  DeviceTotals totals;
  ASSERT_TRUE(totals.Add(batch));
  EXPECT_NEAR(*totals.sm_clock_hz(), 345e6, 1);
  EXPECT_FALSE(totals.sm_clock_error_hz().has_value());
}

}  // namespace
}  // namespace utlz
