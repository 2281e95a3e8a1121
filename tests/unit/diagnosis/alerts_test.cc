// Alerts: a summary that crosses each limit, and one that nearly does.
#include "collector/diagnosis/alerts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>

#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

// The names of the alerts of a busy and healthy GPU once something is changed.
std::set<std::string> Raised(const std::function<void(DeviceSummary*)>& change,
                             const AlertLimits& told = {}) {
  Summary summary;
  DeviceSummary* device = summary.add_devices();
  device->set_uuid("GPU-1");
  device->set_gpu_busy_share(0.95);
  device->set_sm_active_share(0.80);
  device->set_efficiency_score(0.84);
  device->set_memory_bytes(100'000'000'000);
  device->set_memory_used_bytes_max(50e9);
  device->set_temperature_celsius_max(60);
  device->set_sm_clock_hz(1.6e9);
  device->set_sm_clock_maximum_hz(2e9);
  device->add_clock_limits("power cap");
  if (change) change(device);
  RaiseAlerts(told, &summary);
  std::set<std::string> names;
  for (const AlertSummary& alert : summary.alerts()) {
    EXPECT_FALSE(alert.text().empty());
    EXPECT_EQ(alert.device_uuid(), "GPU-1");
    names.insert(alert.name());
  }
  return names;
}

using Names = std::set<std::string>;

TEST(AlertsTest, SilentWhenNothingIsCrossed) { EXPECT_EQ(Raised({}), Names()); }

TEST(AlertsTest, BusyAndHardlyActive) {
  const auto set = [](double busy, double active) {
    return [busy, active](DeviceSummary* device) {
      device->set_gpu_busy_share(busy);
      device->set_sm_active_share(active);
      device->clear_efficiency_score();
    };
  };
  EXPECT_EQ(Raised(set(0.80, 0.29)), Names{"low_sm_activity"});
  EXPECT_EQ(Raised(set(0.80, 0.30)), Names());
  EXPECT_EQ(Raised(set(0.79, 0.10)), Names()) << "not busy enough to speak of";
  EXPECT_EQ(Raised([](DeviceSummary* device) { device->clear_sm_active_share(); }), Names())
      << "not known";
}

TEST(AlertsTest, LowEfficiency) {
  const auto set = [](double busy, double score) {
    return [busy, score](DeviceSummary* device) {
      device->set_gpu_busy_share(busy);
      device->set_efficiency_score(score);
    };
  };
  EXPECT_EQ(Raised(set(0.50, 0.29)), Names{"low_efficiency"});
  EXPECT_EQ(Raised(set(0.50, 0.30)), Names());
  EXPECT_EQ(Raised(set(0.49, 0.10)), Names());
}

// Whatever the limit is: of a score of 70 % nobody may say that most of the GPU is not used.
TEST(AlertsTest, LowEfficiencySaysScoreAndLimit) {
  Summary summary;
  summary.mutable_alert_limits()->set_efficiency_low(0.80);
  DeviceSummary* device = summary.add_devices();
  device->set_gpu_busy_share(0.90);
  device->set_efficiency_score(0.70);
  RaiseAlerts(summary.alert_limits(), &summary);
  ASSERT_EQ(summary.alerts_size(), 1);
  EXPECT_EQ(summary.alerts(0).text(),
            "efficiency score 70.0 % of GPU busy 90.0 % (limit 80.0 % from busy 50.0 %)");
}

TEST(AlertsTest, IdleForLong) {
  const auto set = [](double seconds) {
    return [seconds](DeviceSummary* device) { device->set_longest_idle_ns(seconds * 1e9); };
  };
  EXPECT_EQ(Raised(set(60)), Names{"idle"});
  EXPECT_EQ(Raised(set(59.9)), Names());
}

TEST(AlertsTest, MemoryNearItsEnd) {
  const auto set = [](double bytes) {
    return [bytes](DeviceSummary* device) { device->set_memory_used_bytes_max(bytes); };
  };
  EXPECT_EQ(Raised(set(95e9)), Names{"memory_full"});
  EXPECT_EQ(Raised(set(94.9e9)), Names());
}

TEST(AlertsTest, HeatAndLowClocks) {
  EXPECT_EQ(Raised([](DeviceSummary* device) { device->set_temperature_celsius_max(85); }),
            Names{"temperature"});
  EXPECT_EQ(Raised([](DeviceSummary* device) { device->set_temperature_celsius_max(84); }),
            Names());
  EXPECT_EQ(Raised([](DeviceSummary* device) { device->set_sm_clock_hz(1.49e9); }),
            Names{"clock_low"});
  EXPECT_EQ(Raised([](DeviceSummary* device) { device->set_sm_clock_hz(1.5e9); }), Names());
  EXPECT_EQ(Raised([](DeviceSummary* device) {
              device->set_sm_clock_hz(1e9);
              device->clear_clock_limits();
            }),
            Names())
      << "nothing holds it down: it has little to do";
}

// The text of the only alert.
std::string TextOf(const std::function<void(DeviceSummary*)>& change) {
  Summary summary;
  change(summary.add_devices());
  RaiseAlerts({}, &summary);
  return summary.alerts_size() == 1 ? summary.alerts(0).text() : "";
}

TEST(AlertsTest, SaysWhenTheIdleTimeBeganWhereThatIsKnown) {
  const auto idle = [](bool start) {
    return [start](DeviceSummary* device) {
      device->set_longest_idle_ns(90e9);
      if (start) device->set_longest_idle_start_ns(30e9);
    };
  };
  EXPECT_EQ(TextOf(idle(false)), "idle for 90.0 s in a row (limit 60.0 s)");
  EXPECT_EQ(TextOf(idle(true)),
            "idle for 90.0 s in a row, from 30.0 s of the run on (limit 60.0 s)");
}

TEST(AlertsTest, NamesAllThatHoldTheClockDown) {
  EXPECT_EQ(TextOf([](DeviceSummary* device) {
              device->set_sm_clock_hz(1e9);
              device->set_sm_clock_maximum_hz(2e9);
              device->add_clock_limits("power cap");
              device->add_clock_limits("thermal");
            }),
            "clock held to 50.0 % of its highest (limit 75.0 %) by power cap, thermal");
}

TEST(AlertsTest, WhatIsNotKnownCrossesNothing) {
  AlertLimits everything;
  everything.set_idle_seconds(0);
  everything.set_temperature(0);
  everything.set_memory_full(0);
  everything.set_clock_low(2);
  const auto cleared = [&](const std::function<void(DeviceSummary*)>& clear) {
    return Raised(
        [&](DeviceSummary* device) {
          device->set_longest_idle_ns(0);
          clear(device);
        },
        everything);
  };
  const Names all = {"idle", "memory_full", "temperature", "clock_low"};
  EXPECT_EQ(cleared([](auto) {}), all) << "a limit is crossed where it is reached";
  const auto without = [&](const char* name) {
    Names names = all;
    names.erase(name);
    return names;
  };
  EXPECT_EQ(cleared([](auto* device) { device->clear_longest_idle_ns(); }), without("idle"));
  EXPECT_EQ(cleared([](auto* device) { device->clear_memory_bytes(); }), without("memory_full"));
  EXPECT_EQ(cleared([](auto* device) { device->clear_memory_used_bytes_max(); }),
            without("memory_full"));
  EXPECT_EQ(cleared([](auto* device) { device->clear_temperature_celsius_max(); }),
            without("temperature"));
  EXPECT_EQ(cleared([](auto* device) { device->clear_sm_clock_hz(); }), without("clock_low"));
  EXPECT_EQ(cleared([](auto* device) { device->clear_sm_clock_maximum_hz(); }),
            without("clock_low"));
}

TEST(AlertsTest, MemoryThatGrowsBySteps) {
  const auto raised = [](bool leak, double bytes, const AlertLimits& told) {
    Summary summary;
    summary.mutable_memory()->set_leak_suspected(leak);
    summary.mutable_memory()->set_growth_bytes_per_step(bytes);
    RaiseAlerts(told, &summary);
    return summary.alerts_size() == 1 && summary.alerts(0).name() == "memory_growth";
  };
  AlertLimits megabytes;
  megabytes.set_memory_growth(2e6);
  EXPECT_TRUE(raised(true, 1e6, {}));
  EXPECT_FALSE(raised(false, 1e6, {})) << "it does not go on";
  EXPECT_FALSE(raised(true, 1e6, megabytes));
  EXPECT_TRUE(raised(true, 2e6, megabytes));
  Summary unknown;
  unknown.mutable_memory()->set_leak_suspected(true);
  RaiseAlerts({}, &unknown);
  EXPECT_EQ(unknown.alerts_size(), 0) << "by how much is not known";
  unknown.mutable_memory()->set_growth_bytes_per_step(1e6);
  RaiseAlerts({}, &unknown);
  ASSERT_EQ(unknown.alerts_size(), 1);
  EXPECT_FALSE(unknown.alerts(0).has_device_uuid()) << "of no one device";
}

TEST(AlertsTest, LimitsAreTheReaders) {
  AlertLimits strict;
  strict.set_temperature(50);
  strict.set_busy_high(0.9);
  strict.set_sm_active_low(0.9);
  EXPECT_EQ(Raised({}, strict), (Names{"low_sm_activity", "temperature"}));
  AlertLimits off;
  off.set_temperature(std::numeric_limits<double>::infinity());
  const auto hot = [](DeviceSummary* device) { device->set_temperature_celsius_max(120); };
  EXPECT_EQ(Raised(hot, off), Names());

  Summary summary;
  DeviceSummary* device = summary.add_devices();
  device->set_temperature_celsius_max(60);
  RaiseAlerts(strict, &summary);
  ASSERT_EQ(summary.alerts_size(), 1);
  EXPECT_EQ(summary.alert_limits().temperature(), 50);
  EXPECT_EQ(summary.alert_limits().memory_full(), DefaultAlertLimits().memory_full());
  RaiseAlerts({}, &summary);
  EXPECT_EQ(summary.alerts_size(), 1) << "what the run was told stays, and no alert comes twice";
  RaiseAlerts(off, &summary);
  EXPECT_EQ(summary.alerts_size(), 0) << "the reader knows better";
}

TEST(AlertsTest, ALimitThatIsNoNumberRaisesNothing) {
  AlertLimits limits;
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < AlertLimits::descriptor()->field_count(); ++i) {
    limits.GetReflection()->SetDouble(&limits, AlertLimits::descriptor()->field(i), nan);
  }
  EXPECT_EQ(Raised(
                [](DeviceSummary* device) {
                  device->set_sm_active_share(0);
                  device->set_efficiency_score(0);
                  device->set_longest_idle_ns(1e15);
                  device->set_memory_used_bytes_max(1e12);
                  device->set_temperature_celsius_max(200);
                  device->set_sm_clock_hz(1);
                },
                limits),
            Names());
}

TEST(AlertsTest, TheLongestIdleTimeOfARun) {
  const auto idle_of = [](bool readings) {
    RunBuilder run;
    run.StartRun();
    run.StartProcess();
    run.SendKernels({"a"});
    run.SendLaunches({RunBuilder::LaunchAt(5'000 * kMillisecond, kMillisecond),
                      RunBuilder::LaunchAt(8'000 * kMillisecond, kMillisecond)});
    DeviceTotalsBatch totals;
    totals.set_device_uuid(RunBuilder::Uuid());
    for (uint64_t i = 0; readings && i <= 100; ++i) {
      totals.add_time_ns(kRunStartNs + i * 100 * kMillisecond);
      totals.add_gpu_busy_percent(i == 51 || i == 81 ? 1 : 0);
    }
    run.Send(0, FRAME_DEVICE_TOTALS, totals);
    return run.EndRun(10'000 * kMillisecond).devices(0);
  };
  EXPECT_NEAR(idle_of(false).longest_idle_ns(), 2'999e6, 1) << "between activities";
  EXPECT_NEAR(idle_of(false).longest_idle_start_ns(), 5'001e6, 1);
  EXPECT_NEAR(idle_of(true).longest_idle_ns(), 5e9, 0.1e9) << "NVML saw start-up too";
  EXPECT_NEAR(idle_of(true).longest_idle_start_ns(), 0, 1);
}

TEST(AlertsTest, ARunKeepsTheLimitsThatItWasTold) {
  RunBuilder run;
  RunStart start;
  start.set_time_ns(kRunStartNs);
  start.mutable_alert_limits()->set_idle_seconds(2);
  run.Send(0, FRAME_RUN_START, start);
  run.StartProcess();
  run.SendKernels({"a"});
  run.SendLaunches({RunBuilder::LaunchAt(0, kMillisecond),
                    RunBuilder::LaunchAt(3'000 * kMillisecond, kMillisecond)});
  const Summary summary = run.EndRun(4'000 * kMillisecond);
  ASSERT_EQ(summary.alerts_size(), 1);
  EXPECT_EQ(summary.alerts(0).name(), "idle");
  EXPECT_EQ(summary.alerts(0).limit(), 2);
}

}  // namespace
}  // namespace utlz
