#include "collector/history/interval_recorder.h"

#include <gtest/gtest.h>

#include "tests/unit/history/made_up_run.h"

namespace utlz {
namespace {

constexpr double kExact = 1e-9;

class IntervalRecorderTest : public ::testing::Test {
 protected:
  std::optional<HistoryInterval> AddAt(double seconds, double hfu = 0.25) {
    clock_.now.monotonic_ns = begin_.monotonic_ns + static_cast<uint64_t>(seconds * kSecondNs);
    clock_.now.realtime_ns = begin_.realtime_ns + static_cast<uint64_t>(seconds * kSecondNs);
    return recorder_.Add(SnapshotAfter(seconds, 2, hfu), clock_.now);
  }

  MadeUpClock clock_;
  HistoryTime begin_ = clock_.now;
  IntervalRecorder recorder_{{.run = "0123456789abcdef", .job = "train"}, begin_};
};

TEST_F(IntervalRecorderTest, AnIntervalHoldsWhatCountersGrewBy) {
  EXPECT_FALSE(AddAt(30));
  EXPECT_FALSE(AddAt(59));
  const std::optional<HistoryInterval> first = AddAt(61);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->number(), 0u);
  EXPECT_EQ(first->duration_ns(), 61 * kSecondNs);
  EXPECT_EQ(first->end_ns(), clock_.now.realtime_ns);
  EXPECT_NEAR(first->steps(), 610, kExact);
  EXPECT_FALSE(first->has_tokens()) << "what is not known is absent";
  const std::optional<HistoryInterval> second = AddAt(125);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->number(), 1u);
  ASSERT_EQ(second->device_size(), 2);
  const HistoryDevice& device = second->device(0);
  EXPECT_EQ(device.name(), "NVIDIA H200");
  EXPECT_NEAR(device.flops_peak_seconds(), 64 * 0.25, kExact);
  EXPECT_NEAR(device.energy_joules(), 64 * 500, kExact);
  EXPECT_NEAR(device.cause_seconds(static_cast<int>(TimeCause::kIdleLaunch)), 32, kExact);
  EXPECT_NEAR(device.sm_active(), 0.4, kExact);
  EXPECT_FALSE(device.has_flops());
}

TEST_F(IntervalRecorderTest, TheEndHoldsTheRest) {
  ASSERT_TRUE(AddAt(60));
  EXPECT_FALSE(AddAt(70));
  clock_.Pass(5 * kSecondNs);
  const HistoryInterval rest = recorder_.Close(clock_.now);
  EXPECT_TRUE(rest.last());
  EXPECT_EQ(rest.duration_ns(), 15 * kSecondNs);
  EXPECT_NEAR(rest.device(0).energy_joules(), 10 * 500, kExact);
}

TEST_F(IntervalRecorderTest, AClockThatIsSetBackChangesNoDuration) {
  ASSERT_TRUE(AddAt(60));
  clock_.now.realtime_ns -= 3600 * kSecondNs;
  clock_.now.monotonic_ns += 60 * kSecondNs;
  const std::optional<HistoryInterval> interval =
      recorder_.Add(SnapshotAfter(120, 2, 0.25), clock_.now);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->duration_ns(), 60 * kSecondNs);
  EXPECT_NEAR(interval->steps(), 600, kExact);
}

TEST_F(IntervalRecorderTest, ACountThatShrinksTakesNothingAway) {
  ASSERT_TRUE(AddAt(60, 0.5));
  const std::optional<HistoryInterval> interval = AddAt(120, 0.1);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->device(0).flops_peak_seconds(), 0);
}

TEST_F(IntervalRecorderTest, DevicesAreBounded) {
  const HistoryTime later{.realtime_ns = kNewYearNs + kDayNs,
                          .monotonic_ns = begin_.monotonic_ns + kDayNs};
  const auto interval = recorder_.Add(SnapshotAfter(60, 5000, 0.25), later);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->device_size(), static_cast<int>(IntervalRecorder::kMostDevices));
}

}  // namespace
}  // namespace utlz
