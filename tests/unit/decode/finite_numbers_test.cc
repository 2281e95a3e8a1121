#include "collector/decode/finite_numbers.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "proto/summary.pb.h"

namespace utlz {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(FiniteNumbers, WhatIsNotFiniteIsUnknownAtAnyDepth) {
  Summary summary;
  summary.mutable_capture()->mutable_slowdown()->set_share(kInfinity);
  summary.mutable_capture()->mutable_slowdown()->set_error_share(0.5);
  summary.mutable_efficiency()->set_mfu(kNan);
  for (const double time_ns : {1.0, -kInfinity}) summary.add_kernels()->set_time_ns(time_ns);
  summary.mutable_owners()->add_layers()->set_time_ns(kNan);
  ClearNonFinite(&summary);
  EXPECT_FALSE(summary.capture().slowdown().has_share());
  EXPECT_EQ(summary.capture().slowdown().error_share(), 0.5);
  EXPECT_FALSE(summary.efficiency().has_mfu());
  ASSERT_EQ(summary.kernels_size(), 2);
  EXPECT_EQ(summary.kernels(0).time_ns(), 1);
  EXPECT_FALSE(summary.kernels(1).has_time_ns());
  EXPECT_FALSE(summary.owners().layers(0).has_time_ns());
}

TEST(FiniteNumbers, AnAlertThatIsOffHasAnInfiniteLimit) {
  Summary summary;
  summary.mutable_alert_limits()->set_idle_seconds(kInfinity);
  summary.mutable_alert_limits()->set_temperature(kNan);
  ClearNonFinite(&summary);
  EXPECT_EQ(summary.alert_limits().idle_seconds(), kInfinity);
  EXPECT_FALSE(summary.alert_limits().has_temperature());
}

TEST(FiniteNumbers, AListWithSuchAValueIsUnknownAsAWhole) {
  Summary summary;
  for (const double time_ns : {1.0, kNan, 3.0}) summary.mutable_steps()->add_time_ns(time_ns);
  for (const double start_ns : {0.0, 1.0, 2.0}) summary.mutable_steps()->add_start_ns(start_ns);
  KernelActivity* activity = summary.add_kernel_activity();
  activity->set_kernel_id(7);
  activity->add_busy_share(std::numeric_limits<float>::infinity());
  ClearNonFinite(&summary);
  EXPECT_EQ(summary.steps().time_ns_size(), 0);
  EXPECT_EQ(summary.steps().start_ns_size(), 3);
  EXPECT_EQ(summary.kernel_activity(0).busy_share_size(), 0);
  EXPECT_EQ(summary.kernel_activity(0).kernel_id(), 7u);
}

TEST(FiniteNumbers, ValuesOfATimelineMayBeUnknownOneByOne) {
  Summary summary;
  TimelineSeries* series = summary.add_timeline();
  for (const double value : {1.0, kNan, kInfinity, 4.0}) series->add_value(value);
  ClearNonFinite(&summary);
  ASSERT_EQ(series->value_size(), 4);
  EXPECT_EQ(series->value(0), 1);
  EXPECT_TRUE(std::isnan(series->value(1)));
  EXPECT_TRUE(std::isnan(series->value(2)));
  EXPECT_EQ(series->value(3), 4);
}

}  // namespace
}  // namespace utlz
