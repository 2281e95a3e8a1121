#include "collector/alarms/queue_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace utlz {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// A server whose page is read every five seconds, for three minutes.
Conditions After(double busy, const std::function<double(double second)>& waiting,
                 const std::function<double(double second)>& tokens_per_second) {
  QueueWatch watch;
  Conditions conditions;
  double produced = 0;
  for (int second = 0; second <= 180; second += 5) {
    produced += 5 * tokens_per_second(second);
    Readings readings;
    readings.devices.push_back({.uuid = "GPU-0", .busy = busy});
    readings.server =
        ServerReading{.time_ns = (1'000 + static_cast<uint64_t>(second)) * 1'000'000'000,
                      .waiting = waiting(second),
                      .produced = produced};
    conditions = watch.Look(readings);
  }
  return conditions;
}

double Growing(double second) { return 2 + 0.5 * second; }
double Flat(double) { return 1'000; }

TEST(QueueWatch, BusyAndGrowingAndFlat) {
  const Conditions conditions = After(0.95, Growing, Flat);
  ASSERT_THAT(conditions, SizeIs(1));
  EXPECT_EQ(conditions[0].kind, AlarmKind::kQueueGrows);
  EXPECT_EQ(conditions[0].value, 92);
}

TEST(QueueWatch, AGpuThatWaitsIsNotTheReason) { EXPECT_THAT(After(0.5, Growing, Flat), IsEmpty()); }

TEST(QueueWatch, ThroughputThatRisesIsNoTrouble) {
  EXPECT_THAT(After(0.95, Growing, [](double second) { return 500 + 10 * second; }), IsEmpty());
}

TEST(QueueWatch, AQueueThatStaysIsNoTrouble) {
  EXPECT_THAT(After(
                  0.95, [](double) { return 50.0; }, Flat),
              IsEmpty());
  EXPECT_THAT(After(
                  0.95, [](double second) { return 50 + 0.01 * second; }, Flat),
              IsEmpty());
}

TEST(QueueWatch, AServerThatProducesNothingIsAnotherTrouble) {
  EXPECT_THAT(After(0.95, Growing, [](double) { return 0.0; }), IsEmpty());
}

}  // namespace
}  // namespace utlz
