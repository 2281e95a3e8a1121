#include "tools/history_report/history_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "collector/history/history_trends.h"
#include "tests/unit/history/made_up_run.h"
#include "tools/history_report/amounts.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

HistoryInterval Interval(const std::string& job, const std::string& run, double hfu) {
  IntervalRecorder recorder({.run = run, .job = job, .host = "node-1"},
                            {.realtime_ns = kNewYearNs, .monotonic_ns = 0});
  recorder.Add(SnapshotAfter(60, 2, hfu), {.realtime_ns = kNewYearNs, .monotonic_ns = 0});
  return recorder.Close(
      {.realtime_ns = kNewYearNs + 60 * kSecondNs, .monotonic_ns = 60 * kSecondNs});
}

HistoryReport ReportOf(const std::vector<HistoryInterval>& intervals) {
  HistoryTrends trends(kNewYearNs - kDayNs, kNewYearNs + kDayNs);
  for (const HistoryInterval& interval : intervals) trends.Add(interval);
  return trends.Finish(0);
}

TEST(HistoryTextTest, SaysWhatARunReachedAndWhatChanged) {
  const std::string text = RenderHistory(
      ReportOf({Interval("train.py", "one", 0.40), Interval("train.py", "two", 0.36)}), {});
  EXPECT_THAT(text, HasSubstr("train.py on node-1, 2 runs"));
  EXPECT_THAT(text, HasSubstr("40.0 %"));
  EXPECT_THAT(text, HasSubstr("HFU -10.0 %, step time +0.0 %"));
  EXPECT_THAT(text, HasSubstr("100 ms"));
}

TEST(HistoryTextTest, NamesAreEscaped) {
  const std::string text = RenderHistory(ReportOf({Interval("\x1b[31mred\n", "one", 0.4)}), {});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(HistoryTextTest, JsonIsWhole) {
  const auto json =
      nlohmann::json::parse(RenderHistoryJson(ReportOf({Interval("a\"\xff", "one", 0.4)})));
  EXPECT_EQ(json["schema"], "utlz.history/1");
  EXPECT_NEAR(json["jobs"][0]["runs"][0]["figures"]["hfu"].get<double>(), 0.4, 1e-6);
}

TEST(HistoryTextTest, HostileNumbersCountAsNotKnown) {
  HistoryInterval interval = Interval("job", "one", 0.4);
  interval.set_duration_ns(std::numeric_limits<uint64_t>::max());
  interval.set_steps(std::numeric_limits<double>::quiet_NaN());
  interval.mutable_device(0)->set_energy_joules(-std::numeric_limits<double>::infinity());
  interval.mutable_device(1)->set_cause_seconds(0, -1e308);
  for (int i = 0; i < 100; ++i) interval.mutable_device(1)->add_cause_seconds(1e308);
  const HistoryReport report = ReportOf({interval});
  EXPECT_THAT(RenderHistory(report, {}), Not(HasSubstr("nan")));
}

TEST(HistoryTextTest, RunsAreBounded) {
  std::vector<HistoryInterval> intervals;
  for (size_t i = 0; i < HistoryTrends::kMostRuns + 10; ++i) {
    intervals.push_back(Interval("job " + std::to_string(i), std::to_string(i), 0.4));
  }
  const HistoryReport report = ReportOf(intervals);
  EXPECT_EQ(report.jobs_size(), static_cast<int>(HistoryTrends::kMostRuns));
  EXPECT_EQ(report.jobs_left_out(), 10u);
}

TEST(SinceTest, TimesAndSizes) {
  EXPECT_EQ(ParseSince("90s"), 90 * kSecondNs);
  EXPECT_EQ(ParseSince("2h"), 7200 * kSecondNs);
  EXPECT_EQ(ParseSince("1.5d"), kDayNs * 3 / 2);
  EXPECT_EQ(ParseSince("2w"), 14 * kDayNs);
  EXPECT_EQ(ParseSize("1GiB"), uint64_t{1} << 30);
  EXPECT_EQ(ParseSize("500MB"), 500'000'000u);
  for (const char* wrong :
       {"", "h", "2", "-2h", "2 h", "0s", "nan h", "1e9w", "9999999d", "infs"}) {
    EXPECT_FALSE(ParseSince(wrong)) << wrong;
    EXPECT_FALSE(ParseSize(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace utlz
