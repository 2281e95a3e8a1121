#include "collector/counters/counter_settings.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace utlz {
namespace {

constexpr uint64_t kMs = 1'000'000;

// Whether counters were set at that time, or another set was in (`setting` false).
bool Holds(const CounterSettings& settings, uint64_t time_ns, bool setting) {
  const auto stretches = settings.Stretches();
  return std::any_of(stretches.begin(), stretches.end(), [&](const auto& stretch) {
    return stretch.setting == setting && stretch.start_ns <= time_ns && time_ns < stretch.end_ns;
  });
}

TEST(CounterSettingsTest, AreBetweenWindowsOfDifferentSets) {
  CounterSettings settings;
  for (uint64_t window = 10; window < 13; ++window) {
    settings.AddSamples(7, 100 * window * kMs, (100 * window + 20) * kMs);
  }
  settings.AddSamples(8, 1500 * kMs, 1520 * kMs);
  settings.AddSamples(7, 1800 * kMs, 1820 * kMs);
  EXPECT_TRUE(Holds(settings, 800 * kMs, true)) << "before the first window";
  EXPECT_FALSE(Holds(settings, 1150 * kMs, true)) << "between two of one set";
  EXPECT_TRUE(Holds(settings, 1400 * kMs, true));
  EXPECT_TRUE(Holds(settings, 1700 * kMs, true));
  EXPECT_TRUE(Holds(settings, 1510 * kMs, false));
  EXPECT_FALSE(Holds(settings, 1150 * kMs, false));
}

TEST(CounterSettingsTest, AreNearTheWindowsWhereTheseLieFarApart) {
  CounterSettings settings;
  settings.AddSamples(7, 20'000 * kMs, 20'020 * kMs);
  settings.AddSamples(8, 30'000 * kMs, 30'020 * kMs);
  EXPECT_FALSE(Holds(settings, 10'000 * kMs, true));
  EXPECT_TRUE(Holds(settings, 20'100 * kMs, true));
  EXPECT_FALSE(Holds(settings, 25'000 * kMs, true));
  EXPECT_TRUE(Holds(settings, 29'900 * kMs, true));
}

TEST(CounterSettingsTest, AreAsRecordedWhereTheyWere) {
  CounterSettings settings;
  settings.AddSamples(7, 1000 * kMs, 1020 * kMs);
  settings.AddSamples(8, 1500 * kMs, 1520 * kMs);
  CounterSetting recorded;
  recorded.set_start_ns(1200 * kMs);
  recorded.set_end_ns(1300 * kMs);
  settings.Add(recorded);
  EXPECT_TRUE(Holds(settings, 1250 * kMs, true));
  EXPECT_FALSE(Holds(settings, 1400 * kMs, true));
  recorded.set_end_ns(recorded.start_ns());
  settings.Add(recorded);
  EXPECT_EQ(settings.Stretches().size(), 2u) << "one of no length is none";
}

TEST(CounterSettingsTest, AreBounded) {
  CounterSettings settings;
  CounterSetting recorded;
  recorded.set_end_ns(1);
  for (uint32_t i = 0; i < 3 * CounterSettings::kMost; ++i) {
    settings.Add(recorded);
    settings.AddSamples(i, 0, UINT64_MAX);
  }
  EXPECT_LE(settings.Stretches().size(), 2 * CounterSettings::kMost);
}

}  // namespace
}  // namespace utlz
