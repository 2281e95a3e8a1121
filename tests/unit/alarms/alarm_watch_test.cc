#include "collector/alarms/alarm_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/nanoseconds.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A job on two GPUs whose kernels run all the time at `hfu` of the peak.
class AlarmWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    readings_.now_ns = 1'000 * kSecondNs;
    for (uint32_t i = 0; i < 2; ++i) {
      readings_.devices.push_back({.uuid = "GPU-" + std::to_string(i), .busy = 1});
      readings_.processes.push_back({.source = i + 1, .pid = 10 + i, .device = i});
    }
    readings_.step_seconds = 0.1;
  }

  std::vector<Alarm> Run(int seconds, double hfu, double counted = 1) {
    std::vector<Alarm> all;
    for (int i = 0; i < seconds; ++i) {
      readings_.now_ns += kSecondNs;
      for (DeviceReading& device : readings_.devices) {
        device.known_ns = readings_.now_ns;
        device.kernel_ns += 1e9;
        device.counted_ns += 1e9 * counted;
        device.peak_ns += 1e9 * hfu * counted;
      }
      for (ProcessReading& process : readings_.processes) {
        process.operations += 1000 * hfu / 0.4;
        process.operations_ns = process.last_work_ns = readings_.now_ns;
      }
      for (const Alarm& alarm : watch_.Look(readings_)) all.push_back(alarm);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Alarm& a, const Alarm& b) { return a.name() < b.name(); });
    return all;
  }

  double Value(Metric metric, const std::string& name) {
    MetricsSnapshot snapshot;
    watch_.AddTo({{"Hostname", "h"}}, &snapshot);
    double sum = 0;
    for (const MetricSample& sample : snapshot.Of(metric)) {
      for (const auto& [label, value] : sample.labels) sum += value == name ? sample.value : 0;
    }
    return sum;
  }

  Readings readings_;
  AlarmWatch watch_;
};

TEST_F(AlarmWatchTest, AFallOfHfuIsToldOnceAndItsEnd) {
  EXPECT_THAT(Run(200, 0.4), IsEmpty());
  const std::vector<Alarm> raised = Run(30, 0.36);
  ASSERT_THAT(raised, SizeIs(2)) << "of HFU and of steps";
  EXPECT_EQ(raised[0].name(), "hfu_fell");
  EXPECT_EQ(raised[0].end_ns(), 0u);
  EXPECT_NEAR(raised[0].value(), 0.36, 0.001);
  EXPECT_NEAR(raised[0].before(), 0.4, 0.001);
  EXPECT_THAT(raised[0].text(), HasSubstr("36.0 % from 40.0 %"));
  EXPECT_NEAR(static_cast<double>(raised[0].since_ns()), 1'200e9, 6e9);
  EXPECT_EQ(raised[1].name(), "steps_slower");
  EXPECT_EQ(Value(Metric::kAlarm, "hfu_fell"), 1);
  EXPECT_THAT(Run(60, 0.36), IsEmpty()) << "it is known";
  const std::vector<Alarm> over = Run(40, 0.4);
  ASSERT_THAT(over, SizeIs(2));
  EXPECT_EQ(over[0].number(), raised[0].number());
  EXPECT_GT(over[0].end_ns(), over[0].time_ns());
  EXPECT_EQ(Value(Metric::kAlarm, "hfu_fell"), 0);
  EXPECT_EQ(Value(Metric::kAlarms, "hfu_fell"), 1);
  EXPECT_EQ(Value(Metric::kAlarms, "rank_lags"), 0);
}

TEST_F(AlarmWatchTest, KernelsThatAreNotAllCountedAreNoFall) {
  Run(200, 0.4);
  EXPECT_THAT(Run(60, 0.4, 0.9), IsEmpty());
}

TEST_F(AlarmWatchTest, WhatIsKnownLaterIsNoFall) {
  Run(200, 0.4);
  for (int i = 0; i < 60; ++i) {
    const std::vector<ProcessReading> before = readings_.processes;
    EXPECT_THAT(Run(1, 0.4), IsEmpty());
    const std::vector<ProcessReading> after = readings_.processes;
    readings_.processes = before;  // for a moment less is known
    watch_.Look(readings_);
    readings_.processes = after;
  }
}

TEST_F(AlarmWatchTest, TheEndOfAProcessIsNoFall) {
  Run(200, 0.4);
  readings_.processes.pop_back();
  EXPECT_THAT(Run(60, 0.2), IsEmpty());
}

}  // namespace
}  // namespace utlz
