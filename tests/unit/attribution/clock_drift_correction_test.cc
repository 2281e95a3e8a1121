#include "collector/attribution/clock_drift_correction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace utlz::attribution {
namespace {

constexpr int64_t kRecordedSampleNs = 10'000;
constexpr int64_t kSecondNs = 1'000'000'000;
constexpr double kRates[] = {20, 1};  // of the counter that tells; by variant
constexpr double kToleranceNs = 200;

const std::vector<ShiftGroup> kOneGroup = {{"dram", {0}}};

// One run of samples without a pause, whose clock is `shift_ns` ahead of the launches'.
struct Part {
  int64_t begin_ns = 0;
  int samples = 0;
  int64_t shift_ns = 0;
};

// Two variants by turns, of irregular length, with gaps.
std::vector<Launch> LaunchesOf(const std::vector<Part>& parts) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int64_t> length(7'000, 43'000);
  std::vector<Launch> launches;
  for (const Part& part : parts) {
    int64_t now_ns = part.begin_ns - 100'000;
    const int64_t end_ns = part.begin_ns + part.samples * kRecordedSampleNs + 100'000;
    if (!launches.empty()) now_ns = std::max(now_ns, launches.back().end_ns + 1'000);
    for (uint32_t i = 0; now_ns < end_ns; ++i) {
      const int64_t stop_ns = now_ns + length(random);
      launches.push_back({now_ns, stop_ns, stop_ns, i % 2});
      now_ns = stop_ns + length(random) / 4;
    }
  }
  return launches;
}

double CountBetween(const std::vector<Launch>& launches, int64_t start_ns, int64_t end_ns) {
  double count = 0;
  auto launch =
      std::lower_bound(launches.begin(), launches.end(), start_ns,
                       [](const Launch& each, int64_t time_ns) { return each.end_ns <= time_ns; });
  for (; launch != launches.end() && launch->start_ns < end_ns; ++launch) {
    const int64_t inside_ns =
        std::min(end_ns, launch->end_ns) - std::max(start_ns, launch->start_ns);
    count += static_cast<double>(inside_ns) * kRates[launch->variant];
  }
  return count;
}

// `leading`: so many counters that tell nothing come first.
Recording Record(const std::vector<Part>& parts, size_t leading = 0) {
  Recording recording;
  recording.counters = leading + 1;
  recording.launches = LaunchesOf(parts);
  for (const Part& part : parts) {
    for (int i = 0; i < part.samples; ++i) {
      const int64_t start_ns = part.begin_ns + i * kRecordedSampleNs;
      recording.samples.push_back(
          {start_ns + part.shift_ns, start_ns + kRecordedSampleNs + part.shift_ns});
      recording.values.insert(recording.values.end(), leading, 1'000.0 + i % 3);
      recording.values.push_back(
          CountBetween(recording.launches, start_ns, start_ns + kRecordedSampleNs));
    }
  }
  return recording;
}

std::vector<Part> Windows(const std::vector<int64_t>& shifts_ns, int64_t every_ns = kSecondNs) {
  std::vector<Part> parts;
  for (const int64_t shift_ns : shifts_ns) {
    const auto window = static_cast<int64_t>(parts.size());
    parts.push_back({.begin_ns = (window + 1) * every_ns, .samples = 512, .shift_ns = shift_ns});
  }
  return parts;
}

// Every sample lies as far from the launches as those of the last window.
void ExpectStraight(const std::vector<Part>& parts, const Recording& straight) {
  size_t next = 0;
  for (const Part& part : parts) {
    double most_off_ns = 0;
    for (int i = 0; i < part.samples; ++i) {
      const int64_t wanted_ns = part.begin_ns + i * kRecordedSampleNs + parts.back().shift_ns;
      const auto off_ns = static_cast<double>(straight.samples[next].start_ns - wanted_ns);
      most_off_ns = std::max(most_off_ns, std::abs(off_ns));
      EXPECT_EQ(straight.samples[next].end_ns - straight.samples[next].start_ns, kRecordedSampleNs);
      ++next;
    }
    EXPECT_LT(most_off_ns, kToleranceNs) << "window at " << part.begin_ns;
  }
}

TEST(ClockDriftCorrection, BringsEveryWindowToTheLastOnesShift) {
  const std::vector<Part> parts = Windows({0, 2'100, 4'300, 6'000, -1'500, -1'500, -1'400});
  const Recording recording = Record(parts);
  const std::optional<Recording> straight = WithoutClockDrift(recording, 2, kOneGroup, 1);
  ASSERT_TRUE(straight.has_value());
  EXPECT_EQ(straight->values, recording.values);
  EXPECT_EQ(straight->launches.size(), recording.launches.size());
  ExpectStraight(parts, *straight);
}

TEST(ClockDriftCorrection, WindowsCloseTogetherAreWindowsOfTheirOwn) {
  const std::vector<Part> parts = Windows({0, 4'000, 4'000, -2'000, -2'000}, 40'000'000);
  const std::optional<Recording> straight = WithoutClockDrift(Record(parts), 2, kOneGroup, 1);
  ASSERT_TRUE(straight.has_value());
  ExpectStraight(parts, *straight);
}

TEST(ClockDriftCorrection, LeavesARecordingThatOneShiftServes) {
  EXPECT_FALSE(WithoutClockDrift(Record(Windows({-900, -900, -900, -900, -900})), 2, kOneGroup, 1));
  EXPECT_FALSE(WithoutClockDrift(Record(Windows({-900, -850, -950, -900, -870})), 2, kOneGroup, 1));
}

TEST(ClockDriftCorrection, GoesByTheCountersThatTell) {
  const std::vector<Part> parts = Windows({4'000, 4'000, 0, 0, -2'000});
  const std::vector<ShiftGroup> groups = {{"says nothing", {0}}, {"dram", {1}}, {"nor this", {2}}};
  Recording recording = Record(parts, 1);
  recording.counters = 3;
  std::vector<double> values;
  for (size_t i = 0; i < recording.values.size(); i += 2) {
    values.insert(values.end(), {recording.values[i], recording.values[i + 1], 5.0});
  }
  recording.values = values;
  const std::optional<Recording> straight = WithoutClockDrift(recording, 2, groups, 1);
  ASSERT_TRUE(straight.has_value());
  ExpectStraight(parts, *straight);
}

TEST(ClockDriftCorrection, TwoWindowsAreTooFewToTellADrift) {
  EXPECT_FALSE(WithoutClockDrift(Record(Windows({4'000, -2'000})), 2, kOneGroup, 1));
}

TEST(ClockDriftCorrection, SamplesWithoutLaunchesTellNothing) {
  Recording recording = Record(Windows({4'000, 0, -2'000}));
  recording.launches.clear();
  EXPECT_FALSE(WithoutClockDrift(recording, 2, kOneGroup, 1));
}

// What is too short to tell a shift goes with the window after it.
TEST(ClockDriftCorrection, AShortWindowIsNotTakenAtItsWord) {
  std::vector<Part> parts = Windows({4'000, 4'000, 1'000, 0, 0});
  parts[2].samples = 20;
  const std::optional<Recording> straight = WithoutClockDrift(Record(parts), 2, kOneGroup, 1);
  ASSERT_TRUE(straight.has_value());
  const size_t first = 2 * 512;
  EXPECT_NEAR(static_cast<double>(straight->samples[first].start_ns),
              static_cast<double>(parts[2].begin_ns + parts[2].shift_ns), kToleranceNs);
  EXPECT_NEAR(static_cast<double>(straight->samples[0].start_ns),
              static_cast<double>(parts[0].begin_ns), kToleranceNs);
}

// Without a pause it is cut all the same, and what the moves push together stays in order.
TEST(ClockDriftCorrection, SamplesNeverOverlapAfterwards) {
  constexpr int kSamples = 19'990;
  constexpr int64_t kJumpNs = 7'000;
  const int64_t second_ns = kSecondNs + kSamples * kRecordedSampleNs - kJumpNs;
  const std::vector<Part> parts = {
      {.begin_ns = kSecondNs, .samples = kSamples, .shift_ns = 3'000 - kJumpNs},
      // Its samples follow at once, its launches by a clock that was set back.
      {.begin_ns = second_ns, .samples = kSamples, .shift_ns = 3'000},
      {.begin_ns = second_ns + kSecondNs, .samples = kSamples, .shift_ns = 3'000}};
  const Recording recording = Record(parts);
  const std::optional<Recording> straight = WithoutClockDrift(recording, 2, kOneGroup, 1);
  ASSERT_TRUE(straight.has_value());
  int64_t free_ns = 0;
  for (const Sample& sample : straight->samples) {
    ASSERT_LE(free_ns, sample.start_ns);
    ASSERT_LT(sample.start_ns, sample.end_ns);
    free_ns = sample.end_ns;
  }
  EXPECT_NEAR(static_cast<double>(straight->samples[kSamples / 2].start_ns),
              static_cast<double>(recording.samples[kSamples / 2].start_ns + kJumpNs),
              2 * kToleranceNs);
}

}  // namespace
}  // namespace utlz::attribution
