#include "tools/history_report/history_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tools/history_report/trend_chart.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kHourNs = 3'600'000'000'000;

HistoryJob* AddJob(HistoryReport* report, const std::string& name) {
  HistoryJob* job = report->add_jobs();
  job->set_job(name);
  job->set_host("node-1");
  return job;
}

HistoryRun* AddRun(HistoryJob* job) {
  HistoryRun* run = job->add_runs();
  run->set_begin_ns(1'767'225'600'000'000'000 + static_cast<uint64_t>(job->runs_size()) * kHourNs);
  run->set_ended(true);
  run->mutable_figures()->set_seconds(60);
  return run;
}

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(HistoryHtmlTest, AJobsTrendOverItsRuns) {
  HistoryReport report;
  HistoryJob* job = AddJob(&report, "train.py");
  for (const double hfu : {0.5, 0.4, 0.25}) AddRun(job)->mutable_figures()->set_hfu(hfu);
  job->set_hfu_change(0.625);
  const std::string page = RenderHistoryHtml(report);
  EXPECT_THAT(page, HasSubstr("on node-1, 3 runs"));
  EXPECT_THAT(page, HasSubstr("<p class=\"worse\">the last run against the one before: HFU -37.5 %"));
  EXPECT_THAT(page, HasSubstr("HFU of each run, from 0 at the bottom to 50.0 %"));
  EXPECT_EQ(CountOf(page, "<circle"), 3u);
  EXPECT_EQ(CountOf(page, "<tr>"), 4u);
  EXPECT_THAT(page, Not(HasSubstr("Step time of each run"))) << "which is not known";
}

TEST(HistoryHtmlTest, ARunAloneHasNoTrend) {
  HistoryReport report;
  AddRun(AddJob(&report, "train.py"))->mutable_figures()->set_hfu(0.5);
  EXPECT_THAT(RenderHistoryHtml(report), Not(HasSubstr("<figure>")));
}

TEST(HistoryHtmlTest, NamesStayText) {
  const std::string hostile = "</h2><script>alert(1)</script><img src=x onerror=\"x\">&'\x1b[0m\xff";
  HistoryReport report;
  HistoryJob* job = AddJob(&report, hostile);
  job->set_host(hostile);
  AddRun(job)->set_profile(hostile);
  const std::string page = RenderHistoryHtml(report);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_EQ(CountOf(page, "&lt;script&gt;alert(1)&lt;/script&gt;"), 3u);
  EXPECT_EQ(CountOf(page, "&amp;&#39;\\x1b[0m\\xff"), 3u);
}

TEST(HistoryHtmlTest, TheTableIsBounded) {
  HistoryReport report;
  HistoryJob* job = AddJob(&report, "train.py");
  for (int i = 0; i < 30; ++i) AddRun(job)->mutable_figures()->set_hfu(0.5);
  const std::string page = RenderHistoryHtml(report, {.most_runs = 10});
  EXPECT_EQ(CountOf(page, "<tr>"), 11u);
  EXPECT_EQ(CountOf(page, "<circle"), 30u);
  EXPECT_THAT(page, HasSubstr("20 earlier runs are not in the table"));
}

TEST(HistoryHtmlTest, WhatIsNoNumberIsNotKnown) {
  HistoryReport report;
  HistoryJob* job = AddJob(&report, "train.py");
  for (const double value : {std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN(), 1.0, 2.0}) {
    AddRun(job)->mutable_figures()->set_step_seconds(value);
  }
  const std::string page = RenderHistoryHtml(report);
  EXPECT_EQ(CountOf(page, "<circle"), 2u);
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, Not(HasSubstr("inf")));
}

TEST(TrendChartTest, WhatIsNotKnownLeavesAGap) {
  const std::vector<TrendPoint> points = {
      {0.0, {}}, {1.0, {}}, {std::nullopt, {}}, {0.5, {}}, {2.0, {}}};
  const std::string chart = TrendChart(points, TopOf(points), {108, 48}, "made up");
  EXPECT_THAT(chart, HasSubstr("d=\"M4.0 44.0h0L29.0 24.0M79.0 34.0h0L104.0 4.0\""));
  EXPECT_EQ(TrendChart({{std::nullopt, {}}}, 0, {108, 48}, "made up"), "");
}

}  // namespace
}  // namespace utlz
