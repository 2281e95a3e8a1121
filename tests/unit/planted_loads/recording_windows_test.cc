#include "bench/diagnosis/recording_windows.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/nanoseconds.h"

namespace utlz {
namespace {

constexpr uint64_t kEndNs = 30 * kSecondNs;

PlannedRank LaunchesEvery(uint64_t pace_ns) {
  PlannedRank rank;
  for (uint64_t now = kSecondNs; now < kEndNs; now += pace_ns) {
    rank.launches.push_back({.start_ns = now, .duration_ns = pace_ns / 2});
  }
  return rank;
}

double TracedShare(const RecordingWindows& windows) {
  double traced_ns = 0;
  for (const RecordingWindow& window : windows.traced) {
    traced_ns += static_cast<double>(std::min(window.end_ns, kEndNs) - window.start_ns);
  }
  return traced_ns / (kEndNs - kSecondNs);
}

TEST(RecordingWindows, TraceThroughoutWhatTheBudgetPaysFor) {
  const RecordingWindows windows = WindowsOf(LaunchesEvery(250'000), kEndNs);
  EXPECT_EQ(windows.traced.size(), 1u);
  EXPECT_NEAR(TracedShare(windows), 1, 0.01);
}

// 1,150 ns of every 20,000: 6 % of the time, of which the credit pays two seconds.
TEST(RecordingWindows, TraceInWindowsWhatCostsMore) {
  const RecordingWindows windows = WindowsOf(LaunchesEvery(20'000), kEndNs);
  EXPECT_GT(windows.traced.size(), 3u);
  EXPECT_LT(TracedShare(windows), 0.4);
  EXPECT_GT(TracedShare(windows), 0.1);
}

TEST(RecordingWindows, CountersAreReadWhileLaunchesAreTraced) {
  for (const uint64_t pace_ns : {20'000, 250'000}) {
    const RecordingWindows windows = WindowsOf(LaunchesEvery(pace_ns), kEndNs);
    EXPECT_GT(windows.sampled.size(), 10u);
    for (const RecordingWindow& sampled : windows.sampled) {
      EXPECT_TRUE(std::any_of(windows.traced.begin(), windows.traced.end(),
                              [&](const auto& traced) {
                                return traced.start_ns <= sampled.start_ns &&
                                       sampled.end_ns <= traced.end_ns;
                              }))
          << sampled.start_ns;
    }
  }
}

TEST(RecordingWindows, OfOneRankDoNotMeet) {
  const RecordingWindows windows = WindowsOf(LaunchesEvery(20'000), kEndNs);
  for (size_t i = 1; i < windows.traced.size(); ++i) {
    EXPECT_GT(windows.traced[i].start_ns, windows.traced[i - 1].end_ns);
  }
  for (size_t i = 1; i < windows.sampled.size(); ++i) {
    EXPECT_GT(windows.sampled[i].start_ns, windows.sampled[i - 1].end_ns);
  }
}

}  // namespace
}  // namespace utlz
