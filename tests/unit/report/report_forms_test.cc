// The forms for programs and for pull requests: JSON, CSV, Markdown.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/report/example_summary.h"
#include "tools/report/capture_text.h"
#include "tools/report/csv.h"
#include "tools/report/json.h"
#include "tools/report/markdown.h"

namespace utlz {
namespace {

using Json = nlohmann::json;

TEST(JsonReportTest, FollowsTheContract) {
  Summary summary = Example();
  summary.mutable_kernels(0)->set_dram_bytes(std::numeric_limits<double>::infinity());
  summary.mutable_run()->set_start_time_ns(UINT64_MAX);
  TimelineSeries* series = summary.add_timeline();
  series->add_value(1);
  series->add_value(NAN);
  const Json json = Json::parse(RenderJson(summary));
  EXPECT_EQ(json["schema"], "utlz.report/1");
  EXPECT_EQ(json["kernels"][0]["bound"], "compute");
  EXPECT_EQ(json["kernels"][0]["flops_source"], "sampled");
  EXPECT_EQ(json["capture"]["counter_source"], "sampled");
  EXPECT_EQ(json["kernels"][0]["launches"], 1000);
  EXPECT_TRUE(json["run"]["start_time_ns"].is_number_unsigned());
  EXPECT_EQ(json["run"]["start_time_ns"], UINT64_MAX);
  EXPECT_FALSE(json["kernels"][1].contains("flops")) << "unknown is absent";
  EXPECT_FALSE(json["kernels"][0].contains("dram_bytes")) << "infinity has no form in JSON";
  EXPECT_TRUE(json["timeline"][0]["value"][1].is_null());
  EXPECT_TRUE(json["copies"].is_array());
  EXPECT_FALSE(json.contains("waterfall"));
  EXPECT_EQ(json["run"]["exit_status"], 0) << "a zero that is known is there";
}

TEST(JsonReportTest, IsValidWhateverNamesHold) {
  Summary summary = Example();
  summary.mutable_kernels(0)->set_name(std::string("\xff\xfe\0\"\\\n\xed\xa0\x80", 9));
  EXPECT_TRUE(Json::accept(RenderJson(summary)));
  EXPECT_EQ(Lines(RenderJson(summary, {.indent = -1})).size(), 1u);
}

TEST(JsonReportTest, EveryFieldIsDocumented) {
  std::ifstream file(UTLZ_REPORT_JSON_DOCUMENT);
  std::stringstream document;
  document << file.rdbuf();
  ASSERT_FALSE(document.str().empty());
  std::set<const google::protobuf::Descriptor*> seen;
  std::vector<const google::protobuf::Descriptor*> waiting = {Summary::descriptor()};
  while (!waiting.empty()) {
    const auto* message = waiting.back();
    waiting.pop_back();
    if (!seen.insert(message).second) continue;
    for (int i = 0; i < message->field_count(); ++i) {
      const auto* field = message->field(i);
      EXPECT_NE(document.str().find("| `" + field->name() + "` |"), std::string::npos)
          << message->name() << "." << field->name();
      if (field->message_type() != nullptr) waiting.push_back(field->message_type());
    }
  }
}

TEST(CsvReportTest, HasARowAKernelAndAColumnANumber) {
  Summary summary = Example();
  summary.mutable_kernels(0)->set_short_name("a,\"b\"\nc");
  summary.mutable_kernels(1)->set_short_name("=HYPERLINK(1)");
  const std::string csv = RenderCsv(summary);
  EXPECT_EQ(csv.find("short_name,id,name,"), 0u);
  EXPECT_NE(csv.find("\"a,\"\"b\"\"\\x0ac\",1,gemm,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\r\n'=HYPERLINK(1),2,,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",132 1 1,"), std::string::npos);
  EXPECT_NE(csv.find(",compute,"), std::string::npos);
}

// The cells of a line in which quotes stand for no quotes.
std::vector<std::string> CellsOf(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

TEST(CsvReportTest, EveryRowSaysHowGoodTheCaptureWas) {
  Summary summary = Example();
  for (KernelSummary& kernel : *summary.mutable_kernels()) kernel.clear_name();
  CaptureSummary* capture = summary.mutable_capture();
  capture->set_counter_source(SOURCE_SAMPLED);
  capture->set_coverage_share(0.25);
  capture->set_launches_dropped(7);
  capture->set_kernels_withheld(3);
  capture->clear_samples_lost();
  capture->set_kernel_time_without_counters_share(0.5);
  capture->mutable_slowdown()->set_share(0.125);
  summary.mutable_devices(0)->set_sm_clock_before_hz(345e6);
  std::istringstream lines(RenderCsv(summary));
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> titles = CellsOf(line);
  const auto column = [&](const std::string& title) {
    return static_cast<size_t>(std::find(titles.begin(), titles.end(), title) - titles.begin());
  };
  int rows = 0;
  for (; std::getline(lines, line); ++rows) {
    const std::vector<std::string> cells = CellsOf(line);
    ASSERT_EQ(cells.size(), titles.size()) << line;
    EXPECT_EQ(cells[column("capture_counter_source")], "sampled");
    EXPECT_EQ(cells[column("capture_coverage_share")], "0.25");
    EXPECT_EQ(cells[column("capture_launches_dropped")], "7");
    EXPECT_EQ(cells[column("capture_kernels_withheld")], "3");
    EXPECT_EQ(cells[column("capture_slowdown_share")], "0.125");
    EXPECT_EQ(cells[column("capture_samples_lost")], "") << "unknown is not zero";
    EXPECT_EQ(cells[column("capture_warnings")].find("50.0 % of the kernel time"), 0u);
    EXPECT_EQ(cells[column("device_sm_clock_before_hz")], "345000000.0");
  }
  EXPECT_EQ(rows, summary.kernels_size());
}

TEST(MarkdownReportTest, ShowsTheVerdictAndFoldsTheTables) {
  Summary summary = WithRoof();
  summary.set_verdict("The GPU was busy.");
  WaterfallSlice* slice = summary.mutable_waterfall()->add_slices();
  slice->set_name("useful");
  slice->set_share(0.5);
  slice->set_time_ns(1e9);
  const std::string text = RenderMarkdown(summary, {.top = 1});
  EXPECT_EQ(text.find("**The GPU was busy"), 0u) << text;
  EXPECT_NE(text.find("| 98.0 % | 25.0 % | – | – | – |"), std::string::npos) << text;
  EXPECT_NE(text.find("| useful | 50.0 % | 1.00 s | ██████████ |"), std::string::npos) << text;
  EXPECT_NE(text.find("| <code>gemm</code> | 1.95 s |"), std::string::npos) << text;
  EXPECT_NE(text.find("…and 1 more."), std::string::npos) << text;
}

TEST(MarkdownReportTest, SaysWhatTheServerDid) {
  Summary summary = WithRoof();
  EXPECT_EQ(RenderMarkdown(summary).find("Server"), std::string::npos);
  ApplicationSummary* server = summary.mutable_application();
  server->set_engine("vllm|");
  server->set_time_ns(60e9);
  server->set_requests_per_second(12);
  server->set_tokens_per_second(3456);
  server->set_cost_per_token(2.5e-6);
  const std::string text = RenderMarkdown(summary);
  EXPECT_NE(text.find("\nServer (vllm&#124;, by its own page over 60.0 s): 12.0 requests/s · "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" · 2.5 per million tokens."), std::string::npos) << text;
}

// Its numbers are worth what the capture is.
TEST(MarkdownReportTest, SaysHowGoodTheCaptureIsAndOfWhatTheSharesAre) {
  Summary summary = WithRoof();
  CaptureSummary* capture = summary.mutable_capture();
  capture->set_counter_source(SOURCE_SAMPLED);
  capture->set_samples(12'345);
  capture->set_launches_dropped(7);
  capture->set_kernels_withheld(3);
  capture->set_coverage_share(0.25);
  capture->set_kernel_time_without_counters_share(0.4);
  summary.mutable_steady_state()->set_scope("steps");
  summary.mutable_steady_state()->set_time_ns(2e9);
  const std::string text = RenderMarkdown(summary);
  EXPECT_NE(text.find("12,345 samples"), std::string::npos) << text;
  EXPECT_NE(text.find("7 dropped"), std::string::npos) << text;
  EXPECT_NE(text.find("3 kernels: counters too noisy"), std::string::npos) << text;
  EXPECT_NE(text.find("traced 25.0"), std::string::npos) << text;
  EXPECT_NE(text.find("> 40.0 % of the kernel time has no counters"), std::string::npos);
  EXPECT_NE(text.find("Percentages cover the steps only: 2.00 s traced"), std::string::npos);
}

TEST(MarkdownReportTest, WhereRecordsEndedALongerRunIsNotAdvised) {
  Summary summary = WithRoof();
  CaptureSummary* capture = summary.mutable_capture();
  capture->set_samples(9000);
  capture->set_samples_untraced(8000);
  capture->set_kernel_time_without_counters_share(0.07);
  EXPECT_NE(RenderMarkdown(summary).find("A longer run or attachment"), std::string::npos);
  capture->set_records_ended_after_ns(3e9);
  const std::string text = RenderMarkdown(summary);
  EXPECT_EQ(text.find("A longer run or attachment"), std::string::npos);
  EXPECT_NE(
      text.find("7.0 % of the kernel time has no counters: too few counter samples fell in "
                "these kernels while kernels were recorded, for 3.00 s. "
                "&#45;&#45;later-windows=always or a larger &#45;&#45;overhead-budget records "
                "for longer."),
      std::string::npos)
      << text;
}

TEST(MarkdownReportTest, TheSlowdownOfTheStepsStandsBesideThatOfTheRun) {
  Summary summary = WithRoof();
  SlowdownSummary* slowdown = summary.mutable_capture()->mutable_slowdown();
  slowdown->set_share(0.007);
  slowdown->set_error_share(0.004);
  EXPECT_NE(RenderMarkdown(summary).find("estimated slowdown 0.7 % ± 0.4 %"), std::string::npos);
  slowdown->set_steps_share(0.032);
  slowdown->set_steps_error_share(0.02);
  EXPECT_NE(RenderMarkdown(summary).find(
                "estimated slowdown 0.7 % ± 0.4 % of the run, 3.2 % ± 2.0 % of the steps"),
            std::string::npos);
}

TEST(MarkdownReportTest, OneKernelIsNotSeveral) {
  Summary summary = WithRoof();
  summary.mutable_capture()->set_kernels_withheld(1);
  EXPECT_NE(RenderMarkdown(summary).find("1 kernel: counters too noisy"), std::string::npos);
}

TEST(MarkdownReportTest, OpensWithTheFirstScreen) {
  Summary summary = WithRoof();
  summary.set_problem("launch-bound");
  summary.set_trust("12 % of the steps' time traced");
  summary.mutable_steady_state()->set_scope("steps");
  for (const double time_ns : {8e6, 2e6}) {
    LadderRung* rung = summary.mutable_ladder()->add_rungs();
    rung->set_name(time_ns > 5e6 ? "now" : "no_idle");
    rung->set_time_ns(time_ns);
    rung->set_speedup(8e6 / time_ns);
  }
  summary.mutable_ladder()->mutable_rungs(1)->set_time_error_ns(1e5);
  summary.set_next_command("utlz run --delay 5");
  FamilySummary* family = summary.add_families();
  family->set_family("gemm");
  family->set_time_share(0.5);
  family->set_time_per_step_ns(1e6);
  for (const bool small : {false, true}) {
    FindingSummary* finding = summary.add_findings();
    finding->set_title(small ? "A small loss in many words" : "The large one");
    finding->set_title_short("Small loss");
    finding->set_type_this("model = compiled");
    finding->set_below_threshold(small);
  }
  const std::string text = RenderMarkdown(summary);
  EXPECT_NE(text.find("Type: <code>utlz run &#45;&#45;delay 5</code>"), std::string::npos) << text;
  EXPECT_NE(text.find("*Type:* <code>model &#61; compiled</code>"), std::string::npos) << text;
  EXPECT_NE(text.find("| no idle time | 2.00 ms | 196 µs | 4.00× |"), std::string::npos) << text;
  EXPECT_NE(text.find("| gemm | 1.00 ms | 50.0 % | – | – |"), std::string::npos) << text;
  EXPECT_NE(text.find("Measured: 12 % of the steps"), std::string::npos) << text;
  EXPECT_LT(text.find("**launch-bound**"), text.find("1. **The large one**")) << text;
  EXPECT_NE(text.find("alone is small: Small loss."), std::string::npos) << text;
  EXPECT_EQ(text.find("in many words"), std::string::npos) << text;
}

// As in text: the rates of a few counted kernels are not those of the family.
TEST(MarkdownReportTest, AFamilyThatIsMostlyUncountedHasNoRate) {
  Summary summary;
  FamilySummary* family = summary.add_families();
  family->set_family("gemm");
  family->set_time_ns(1e9);
  family->set_time_share(1);
  family->set_dram_bytes_per_second(1e12);
  family->set_estimated_savings_ns(1e8);
  family->set_time_without_counters_ns(0.2e9);
  EXPECT_NE(RenderMarkdown(summary).find("| 1.00 TB/s | 100 ms | 20.0 % |"), std::string::npos);
  family->set_time_without_counters_ns(0.6e9);
  FamilySummary* communication = summary.add_families();
  communication->set_family("communication");
  communication->set_time_ns(1e9);
  communication->set_time_share(0.5);
  communication->set_time_without_counters_ns(0);
  const std::string text = RenderMarkdown(summary);
  EXPECT_NE(text.find("| – | – | 60.0 % |"), std::string::npos) << text;
  EXPECT_NE(text.find("| communication | 1.00 s | 50.0 % | – | – |  |"), std::string::npos) << text;
}

TEST(MarkdownReportTest, OrdersKernelsAsAsked) {
  const Summary summary = WithRoof();
  const auto first = [&](KernelOrder order) {
    const std::string text = RenderMarkdown(summary, {.top = 1, .order = order});
    return text.substr(text.find("| <code>"), 20);
  };
  EXPECT_NE(first(KernelOrder::kSavings), first(KernelOrder::kLaunches));
}

TEST(MarkdownReportTest, NamesActOnNothing) {
  Summary summary = WithRoof();
  summary.set_verdict("x");
  summary.mutable_kernels(0)->set_short_name("</code>|**`<img src=x>\n@someone #1");
  summary.mutable_run()->add_notices("<script>");
  const std::string text = RenderMarkdown(summary);
  EXPECT_EQ(text.find("<img"), std::string::npos);
  EXPECT_EQ(text.find("<script"), std::string::npos);
  EXPECT_EQ(text.find("@someone"), std::string::npos);
  EXPECT_EQ(text.find("`"), std::string::npos);
  EXPECT_NE(text.find("&#60;"), std::string::npos);
}

}  // namespace
}  // namespace utlz
