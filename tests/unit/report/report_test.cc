#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "tests/unit/report/example_summary.h"
#include "tools/report/capture_text.h"
#include "tools/report/markdown.h"
#include "tools/report/text.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

TEST(TextReportTest, ShowsWhatMatters) {
  const std::string text = RenderText(Example());
  EXPECT_EQ(Lines(text)[0], "python train.py");
  EXPECT_NE(LineWith(text, "GPU busy").find("98.0 %"), std::string::npos);
  EXPECT_NE(LineWith(text, "SM active").find("25.0 %"), std::string::npos);
  const std::string gemm = LineWith(text, "gemm");
  for (const char* cell :
       {"1.95 s", "5.00 s", "60%", "1.00k", "600T", "200G", "3.00k", "compute", "61%", "1%"}) {
    EXPECT_NE(gemm.find(cell), std::string::npos) << cell << " in " << gemm;
  }
}

TEST(TextReportTest, FlopsThatMayBeNoneAreLessThanTheirMost) {
  Summary summary = Example();
  KernelSummary* gemm = summary.mutable_kernels(0);
  gemm->set_flops_error(3e15 / 1.959964);
  const std::string row = LineWith(RenderText(summary), "gemm");
  EXPECT_NE(row.find("<1.20P"), std::string::npos) << row;
  EXPECT_NE(row.find("<6.00k"), std::string::npos) << row;
  gemm->set_flops_error(2.9e15 / 1.959964);
  EXPECT_EQ(LineWith(RenderText(summary), "gemm").find('<'), std::string::npos);
}

TEST(TextReportTest, FlopsOutsideTheTensorCoresAreToldByTheirMost) {
  Summary summary = Example();
  DeviceSummary* device = summary.mutable_devices(0);
  device->set_hfu(0);
  device->set_flops(4e13);
  device->set_flops_error(4e13 / 1.959964);
  device->set_flops_per_second(4e12);
  EXPECT_NE(RenderText(summary).find("\n      at most 8.00 TFLOP/s outside"), std::string::npos);
}

TEST(TextReportTest, WhereNothingRanTablesSaySo) {
  Summary summary;
  summary.mutable_run()->add_command("true");
  EXPECT_NE(RenderText(summary, {.group_by = GroupBy::kStream}).find("and so no streams.\n"),
            std::string::npos);
  EXPECT_NE(RenderText(summary, {.group_by = GroupBy::kOperation}).find("and so no operations.\n"),
            std::string::npos);
  EXPECT_NE(RenderText(summary).find("ran for an unknown time · no GPU was used"),
            std::string::npos);
  summary.mutable_run()->set_wall_ns(2'670'000'000);
  EXPECT_NE(RenderMarkdown(summary).find("<code>true</code>, 2.67 s; no GPU was used\n"),
            std::string::npos)
      << RenderMarkdown(summary);
}

// Where no sample met the steps, NVML's reading is all there is: it has no error that one knows.
TEST(TextReportTest, BandwidthThatNvmlReadsIsSaidToBe) {
  Summary summary = Example();
  DeviceSummary* device = summary.mutable_devices(0);
  device->set_hbm_bandwidth_share(0.072);
  device->set_dram_read_bytes(1e9);
  device->set_dram_bytes_error(1e8);
  device->set_peak_dram_bytes_per_second(4.8e12);
  const std::string nvml = LineWith(RenderText(summary), "HBM bandwidth");
  EXPECT_NE(nvml.find("as NVML reads it"), std::string::npos) << nvml;
  EXPECT_EQ(nvml.find("± "), std::string::npos) << nvml;
  EXPECT_EQ(nvml.find("4.80 TB/s"), std::string::npos) << nvml;
  device->set_dram_bytes_per_second(3.5e11);
  const std::string counted = LineWith(RenderText(summary), "HBM bandwidth");
  EXPECT_NE(counted.find(", 350 GB/s of 4.80 TB/s"), std::string::npos) << counted;
  EXPECT_EQ(counted.find("NVML"), std::string::npos) << counted;
}

// HFU is of the tensor cores; FLOPs of which only a most is known are told by it beside it.
TEST(TextReportTest, FlopsOfAllPipesAreToldByTheirMostWhereThatIsFarAway) {
  Summary summary = Example();
  DeviceSummary* device = summary.mutable_devices(0);
  device->set_hfu(0.003);
  device->set_hfu_error(0.001);
  device->set_flops(1e14);
  device->set_flops_per_second(6e12);
  device->set_flops_error(5e13 / 1.959964);
  EXPECT_NE(LineWith(RenderText(summary), "HFU").find("± 0.2 %, in all <9.00 TFLOP/s"),
            std::string::npos);
  device->set_flops_error(1e12);
  EXPECT_NE(LineWith(RenderText(summary), "HFU").find("± 0.2 %, 6.00 TFLOP/s in all"),
            std::string::npos);
}

// 12.1 % of 1,045 TFLOP/s are 126.
TEST(TextReportTest, BesideHfuStandsTheRateOfItsFlopsAndThatOfAllAsSuch) {
  Summary summary = Example();
  DeviceSummary* device = summary.mutable_devices(0);
  device->set_hfu(0.121);
  device->set_hfu_error(0.0015);
  device->set_flops(1.3e15);
  device->set_flops_per_second(1.3e14);
  const auto add_peak = [&](const char* data_type, double flops_per_second) {
    PeakSummary* peak = device->add_peaks();
    peak->set_data_type(data_type);
    peak->set_flops_per_second(flops_per_second);
  };
  add_peak("bf16", 1.045e15);
  add_peak("tf32", 5.225e14);
  add_peak("fp32", 6e13);
  const auto add_flops = [&](const char* data_type, double flops) {
    DataTypeFlops* typed = summary.mutable_kernels(0)->add_flops_by_type();
    typed->set_data_type(data_type);
    typed->set_flops(flops);
    typed->set_source(SOURCE_SAMPLED);
  };
  add_flops("bf16", 1e15);
  add_flops("fp32", 1e14);
  const auto hfu = [&] { return LineWith(RenderText(summary), "HFU"); };
  EXPECT_NE(hfu().find("± 0.3 %, 126 TFLOP/s, 130 in all"), std::string::npos) << hfu();
  device->set_flops_per_second(1.26445e14);
  EXPECT_EQ(hfu().find("in all"), std::string::npos) << hfu();
  device->set_flops_per_second(2e15);
  EXPECT_NE(RenderText(summary).find("126 TFLOP/s, 2.00 PFLOP/s in all"), std::string::npos);
  device->set_flops_error(1e15);
  EXPECT_NE(RenderText(summary).find("126 TFLOP/s, in all <"), std::string::npos);
  add_flops("tf32", 1e15);  // half of the peak: two thirds of the mean rate
  EXPECT_NE(RenderText(summary).find("84.3 TFLOP/s, in all <"), std::string::npos);
}

TEST(TextReportTest, AnMfuBelowATenthOfAPercentHasDigits) {
  Summary summary = Example();
  summary.mutable_efficiency()->set_mfu(0.000283);
  EXPECT_NE(RenderText(summary).find("MFU 0.028 %"), std::string::npos);
  EXPECT_NE(RenderMarkdown(summary).find("MFU 0.028 %"), std::string::npos);
}

TEST(TextReportTest, ShowsUnknownAsADashNeverAsZero) {
  const std::string text = RenderText(Example());
  EXPECT_NE(LineWith(text, "tensor active").find(kUnknown), std::string::npos);
  EXPECT_NE(LineWith(text, "HFU").find(kUnknown), std::string::npos);
  const std::string relu = LineWith(text, "relu");
  EXPECT_EQ(relu.find(" 0"), std::string::npos) << relu;
  EXPECT_NE(relu.find(kUnknown), std::string::npos);
  EXPECT_FALSE(RenderText(Summary()).empty());
}

TEST(TextReportTest, TellsTheClocksBeforeUnderAndAfterLoadAsFarAsTheyAreKnown) {
  Summary summary = Example();
  DeviceSummary* device = summary.mutable_devices(0);
  device->set_sm_clock_hz(1.79e9);
  EXPECT_NE(RenderText(summary, {.columns = 1000}).find("· SM clock 1.79 GHz under load"),
            std::string::npos);
  device->set_sm_clock_before_hz(345e6);
  device->set_sm_clock_after_hz(1.98e9);
  const std::string known = "SM clock 345 MHz before, 1.79 GHz under load, 1.98 GHz after";
  EXPECT_NE(DescribeCapture(summary).find(known), std::string::npos) << DescribeCapture(summary);
  EXPECT_NE(RenderMarkdown(summary).find("SM clock 345 MHz before, "), std::string::npos);
  summary.add_devices()->set_sm_clock_hz(1.5e9);
  EXPECT_NE(DescribeCapture(summary).find("SM clock of the slowest GPU 1.50 GHz under load"),
            std::string::npos);
  EXPECT_EQ(DescribeCapture(Summary()).find("SM clock"), std::string::npos);
}

TEST(TextReportTest, IsNoWiderThanAsked) {
  Summary summary = WithRoof();
  summary.mutable_devices(0)->set_hfu(0.4);
  summary.mutable_devices(0)->set_hfu_error(0.01);
  summary.mutable_devices(0)->set_flops_per_second(4e14);
  summary.mutable_steady_state()->set_scope("steps");
  WaterfallSlice* slice = summary.mutable_waterfall()->add_slices();
  slice->set_name("arithmetic outside the tensor cores");
  slice->set_share(0.99);
  slice->set_time_ns(123e9);
  slice->set_steady_state_share(0.99);
  slice->set_time_per_step_ns(123e6);
  summary.mutable_run()->add_command(std::string(500, 'x'));
  summary.mutable_run()->add_notices(std::string(300, 'y') + " and some more words to be wrapped");
  summary.mutable_kernels(0)->set_short_name(std::string(300, 'k'));
  summary.set_verdict(
      "a verdict that goes on and on and on, because a sentence may well be longer "
      "than any line of a terminal is wide, may it not");
  for (const uint32_t columns : {80u, 100u, 120u}) {
    for (const std::string& line : Lines(RenderText(summary, {.columns = columns}))) {
      EXPECT_LE(ColumnsOf(line), columns) << line;
    }
  }
}

TEST(TextReportTest, KeepsNamesApartThatCuttingMakesEqual) {
  Summary summary = Example();
  const std::string head(60, 'a');
  const std::string tail(60, 'z');
  summary.mutable_kernels(0)->set_short_name(head + "1" + tail);
  summary.mutable_kernels(1)->set_short_name(head + "2" + tail);
  std::set<std::string> names;
  for (const std::string& line : Lines(RenderText(summary))) {
    if (line.find("aaaa") == 0) names.insert(line.substr(0, line.find(' ', 30)));
  }
  EXPECT_EQ(names.size(), 2u);
}

TEST(TextReportTest, SlicesOfStepsAreToldByTheSteps) {
  Summary summary = Example();
  summary.mutable_steady_state()->set_scope("steps");
  WaterfallSlice* start = summary.mutable_waterfall()->add_slices();
  start->set_name("start-up");
  start->set_share(0.8);
  start->set_time_ns(8e9);
  WaterfallSlice* useful = summary.mutable_waterfall()->add_slices();
  useful->set_name("useful");
  useful->set_share(0.1);
  useful->set_time_ns(1e9);
  useful->set_steady_state_share(0.5);
  useful->set_time_per_step_ns(15e6);
  const std::string text = RenderWaterfall(summary, {});
  EXPECT_NE(text.find("of the steps    a step"), std::string::npos) << text;
  EXPECT_NE(LineWith(text, "useful").find("10.0 %"), std::string::npos);
  EXPECT_NE(LineWith(text, "useful").find("50.0 %   15.0 ms  █"), std::string::npos) << text;
  EXPECT_EQ(LineWith(text, "start-up").find("█"), std::string::npos) << text;
  for (const std::string& line : Lines(text)) EXPECT_LE(ColumnsOf(line), 100u);
  EXPECT_NE(RenderMarkdown(summary).find("| start-up | 80.0 % | 8.00 s | | |  |\n"
                                         "| useful | 10.0 % | 1.00 s | 50.0 % | 15.0 ms | █"),
            std::string::npos)
      << RenderMarkdown(summary);
  summary.mutable_steady_state()->set_scope("run");
  EXPECT_NE(LineWith(RenderWaterfall(summary, {}), "start-up").find("█"), std::string::npos);
}

TEST(TextReportTest, RaisesAlerts) {
  Summary summary = Example();
  EXPECT_EQ(RenderText(summary).find("Alert:"), std::string::npos);
  AlertSummary* alert = summary.add_alerts();
  alert->set_name("temperature");
  alert->set_text("temperature reached 90 °C\x1b[31m (limit 85 °C)");
  alert->set_device_uuid("GPU-1");
  EXPECT_EQ(LineWith(RenderText(summary), "Alert:"),
            "Alert: temperature reached 90 °C\\x1b[31m (limit 85 °C)");
  EXPECT_NE(RenderMarkdown(summary).find("\n- **Alert:** temperature reached 90 °C"),
            std::string::npos);
  summary.add_devices();
  EXPECT_NE(LineWith(RenderText(summary), "Alert:").find("(GPU-1)"), std::string::npos);
}

TEST(TextReportTest, SaysWhatTheJobYieldsAndCosts) {
  Summary summary = Example();
  EfficiencySummary* efficiency = summary.mutable_efficiency();
  efficiency->set_steps_per_second(32.5);
  efficiency->set_items_per_second(2080);
  efficiency->set_item_name("images\x1b");
  efficiency->set_items_per_joule(3.05);
  std::string text = RenderEfficiency(summary, {});
  EXPECT_NE(text.find("32.5 steps/s · 2.08k images\\x1b/s · 3.05 images\\x1b/s per watt"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("cost"), std::string::npos);
  efficiency->set_price_per_hour(3.5);
  efficiency->set_cost_idle_per_hour(0.5);
  efficiency->set_cost_lost_per_hour(2.25);
  efficiency->set_cost_lost(0.125);
  efficiency->set_cost_per_step(3e-5);
  text = RenderEfficiency(summary, {});
  EXPECT_NE(text.find("cost: 3.5 an hour: 0.5 idle, 2.25 below peak FLOP/s · 0.00003 per step"),
            std::string::npos)
      << text;
}

// Start-up is paid for, too.
TEST(TextReportTest, SaysWhatTheWholeRunCostAndWhatOfItCameBeforeTheFirstStep) {
  Summary summary = Example();
  summary.clear_phases();
  summary.mutable_run()->set_wall_ns(3600e9);
  EfficiencySummary* efficiency = summary.mutable_efficiency();
  efficiency->set_price_per_hour(4);
  EXPECT_EQ(RenderEfficiency(summary, {}).find("whole run"), std::string::npos) << "not known";
  efficiency->set_cost_lost(3);
  std::string text = RenderEfficiency(summary, {});
  EXPECT_NE(text.find("cost of the whole run: 4, 3 of it without FLOPs at peak\n"),
            std::string::npos)
      << text;
  for (const auto& [name, time_ns] : {std::pair("start", 600e9), std::pair("setup", 300e9),
                                      std::pair("steps", 2400e9), std::pair("end", 300e9)}) {
    PhaseSummary* phase = summary.add_phases();
    phase->set_name(name);
    phase->set_time_ns(time_ns);
  }
  text = RenderEfficiency(summary, {});
  EXPECT_NE(LineWith(text, "whole run").find(", among it 1 before the first"), std::string::npos)
      << text;
  summary.mutable_phases()->DeleteSubrange(2, 2);
  EXPECT_EQ(RenderEfficiency(summary, {}).find("before the first step"), std::string::npos)
      << "no steps";
}

TEST(TextReportTest, TheLegendNamesAColumnOfTheTable) {
  const std::string text = RenderKernels(Example(), {});
  EXPECT_EQ(LineWith(text, "kernel ").find("recover"), std::string::npos) << text;
  EXPECT_NE(LineWith(text, "kernel ").find("savings"), std::string::npos) << text;
  EXPECT_NE(text.find("\nsavings: time above the roofline minimum"), std::string::npos) << text;
}

// A kernel that streams bytes at its roof does hardly any FLOPs, and loses nothing all the same.
TEST(TextReportTest, MoneyIsLostAboveTheRooflinesAlone) {
  Summary summary = Example();
  summary.mutable_efficiency()->set_price_per_hour(4);
  summary.mutable_efficiency()->set_cost_idle_per_hour(1);
  summary.mutable_efficiency()->set_cost_lost_per_hour(4);
  LadderSummary* ladder = summary.mutable_ladder();
  for (const auto& [name, time_ns] :
       {std::pair("now", 8e6), std::pair("no_idle", 6e6), std::pair("at_roofline", 5e6)}) {
    ladder->add_rungs()->set_name(name);
    ladder->mutable_rungs(ladder->rungs_size() - 1)->set_time_ns(time_ns);
  }
  const std::string text = RenderEfficiency(summary, {});
  EXPECT_NE(text.find("cost: 4 an hour: 1 idle, 0.5 above the rooflines"), std::string::npos)
      << text;
}

TEST(TextReportTest, SaysThatTracingTookTimeWhereItIsWorthIt) {
  Summary summary = Example();
  summary.mutable_capture()->set_steady_state_slowdown_share(0.12);
  EXPECT_NE(RenderCapture(summary, {}).find("! Tracing itself took an estimated 12.0 %"),
            std::string::npos)
      << RenderCapture(summary, {});
  summary.mutable_capture()->set_steady_state_slowdown_share(0.04);
  EXPECT_EQ(RenderText(summary).find("Tracing itself"), std::string::npos);
}

TEST(TextReportTest, EscapesNames) {
  Summary summary = Example();
  summary.mutable_kernels(0)->set_short_name("evil\033[2J\xff\xe2\x80\xaename\n");
  summary.mutable_run()->set_command(1, "a\033]0;title\007");
  summary.mutable_run()->add_notices("notice\r\033[31m");
  const std::string text = RenderText(summary);
  for (const char c : {'\033', '\007', '\r', '\xff'}) EXPECT_EQ(text.find(c), std::string::npos);
  EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);
  EXPECT_NE(text.find("\\x1b"), std::string::npos);
}

TEST(TextReportTest, ColoursOnlyWhenAsked) {
  EXPECT_EQ(RenderText(Example()).find('\033'), std::string::npos);
  EXPECT_NE(RenderText(Example(), {.color = true}).find('\033'), std::string::npos);
}

TEST(TextReportTest, SortsAndCutsTheTable) {
  TextOptions options;
  options.order = KernelOrder::kLaunches;
  options.top = 1;
  const std::string text = RenderText(Example(), options);
  EXPECT_FALSE(LineWith(text, "relu").empty());
  EXPECT_NE(LineWith(text, "… and 1 more").find("5.00 s"), std::string::npos);
}

TEST(TextReportTest, GroupsByOtherThings) {
  Summary summary = Example();
  MarkerSummary* marker = summary.add_nvtx();
  marker->set_name("forward");
  marker->set_count(7);
  ProcessSummary* process = summary.add_processes();
  process->set_pid(4242);
  process->set_command("worker");
  StreamSummary* stream = summary.add_streams();
  stream->set_stream(13);
  EXPECT_FALSE(LineWith(RenderText(summary, {.group_by = GroupBy::kNvtx}), "forward").empty());
  EXPECT_FALSE(LineWith(RenderText(summary, {.group_by = GroupBy::kProcess}), "4242").empty());
  EXPECT_FALSE(LineWith(RenderText(summary, {.group_by = GroupBy::kStream}), "stream 13").empty());
  const std::string gpu =
      LineWith(RenderText(summary, {.group_by = GroupBy::kDevice}), "0: NVIDIA H200");
  EXPECT_NE(gpu.find("98.0 %"), std::string::npos) << gpu;
  EXPECT_NE(gpu.find("–"), std::string::npos) << "nothing is known of its power";
}

// Workers that come and go by the hundred do not fill the screen.
TEST(TextReportTest, OfManyProcessesTheReportShowsThoseThatDoMost) {
  Summary summary = Example();
  summary.clear_processes();
  for (int i = 0; i < 100; ++i) {
    ProcessSummary* process = summary.add_processes();
    process->set_pid(5000 + i);
    process->set_launches(10);
    process->set_kernel_time_ns(1'000'000 * (i + 1));
  }
  const std::string text = RenderText(summary, {});
  EXPECT_FALSE(LineWith(text, "5099").empty());
  EXPECT_FALSE(LineWith(text, "5068").empty());
  EXPECT_TRUE(LineWith(text, "5067").empty());
  const std::string rest = LineWith(text, "… and 68 more: --by process");
  EXPECT_NE(rest.find("680"), std::string::npos) << rest;
  EXPECT_NE(rest.find("2.35 s"), std::string::npos) << rest;
  EXPECT_FALSE(LineWith(RenderText(summary, {.group_by = GroupBy::kProcess}), "5000").empty());
}

TEST(TextReportTest, NamesRecordings) {
  Summary summary = Example();
  summary.mutable_run()->set_recording(true);
  EXPECT_EQ(Lines(RenderText(summary))[0].find("RECORDING"), 0u);
}

TEST(TextRooflineTest, DrawsTheRoofAndTheKernelUnderIt) {
  const std::string text = RenderRoofline(WithRoof(), {});
  for (const std::string& line : Lines(text)) EXPECT_LE(ColumnsOf(line), 100u) << line;
  EXPECT_NE(text.find("900 TFLOP/s and 4.80 TB/s"), std::string::npos) << text;
  EXPECT_NE(LineWith(text, "bf16").find("───"), std::string::npos) << "the roof";
  const std::string legend = LineWith(text, " a  61% gemm");
  EXPECT_FALSE(legend.empty()) << text;
  // The kernel is in a line below the flat part of the roof.
  size_t roof = 0, kernel = 0;
  const std::vector<std::string> lines = Lines(text);
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string plot = lines[i].substr(0, lines[i].find("  a  61%"));
    if (plot.find("bf16") != std::string::npos) roof = i;
    if (plot.find('a') != std::string::npos && i < 13) kernel = i;
  }
  EXPECT_GT(kernel, roof) << text;
  EXPECT_NE(text.find("1 kernel whose bytes are not known (40.0 %"), std::string::npos) << text;
  // A copy does no FLOPs, and is not without counters for that.
  Summary copies = WithRoof();
  copies.mutable_kernels(1)->set_dram_bytes(1e9);
  EXPECT_NE(RenderText(copies).find("Not plotted: 1 kernel with bytes, but no known FLOPs (40.0 %"),
            std::string::npos);
}

TEST(TextRooflineTest, IsSilentWithoutFlopsOrRoofOrRoom) {
  EXPECT_EQ(RenderRoofline(Example(), {}), "");
  Summary summary = WithRoof();
  EXPECT_EQ(RenderRoofline(summary, {.columns = 60}), "");
  summary.mutable_kernels(0)->clear_flops_per_second();
  EXPECT_EQ(RenderRoofline(summary, {}), "");
  EXPECT_EQ(RenderRoofline({}, {}), "");
}

TEST(TextRanksTest, SaysWhoIsLateAndHowWellTheClocksAreKnown) {
  Summary summary = Example();
  RanksSummary* ranks = summary.mutable_ranks();
  ranks->add_clocks()->set_host("a");
  ClockSummary* clock = ranks->add_clocks();
  clock->set_host("b\033[31m");
  clock->set_shift_ns(-2.5e6);
  clock->set_shift_error_ns(4e3);
  clock->set_drift_ppm(2);
  clock->set_span_ns(1e9);
  clock->set_collectives(480);
  RankSummary* rank = ranks->add_ranks();
  rank->set_rank(3);
  rank->set_host("b");
  rank->set_collectives(480);
  rank->set_last_in(470);
  rank->set_waited_for_ns(2.4e8);
  const std::string text = RenderRanks(summary, {});
  EXPECT_NE(LineWith(text, "3 on b").find("97.9 %"), std::string::npos) << text;
  EXPECT_NE(LineWith(text, "Clock of").find("b\\x1b[31m: −2.50 ms ± 4.00 µs"), std::string::npos)
      << text;
  EXPECT_NE(text.find("1.00 µs off at the ends"), std::string::npos) << text;
  EXPECT_EQ(RenderRanks(Example(), {}), "");
}

// Each grouping shows numbers, and so what they are worth.
TEST(TextReportTest, EveryGroupingSaysHowGoodTheCaptureIs) {
  for (const GroupBy group :
       {GroupBy::kKernel, GroupBy::kNvtx, GroupBy::kStream, GroupBy::kDevice, GroupBy::kProcess}) {
    EXPECT_NE(RenderText(WithRoof(), {.group_by = group}).find("Capture: "), std::string::npos);
  }
}

// "host to device" twice would say nothing.
TEST(TextReportTest, RowsOfSeveralGpusSayWhose) {
  Summary summary = WithRoof();
  for (const char* uuid : {"GPU-a", "GPU-b"}) {
    if (summary.devices_size() < 2) summary.add_devices();
    DeviceSummary* device = summary.mutable_devices(uuid[4] == 'a' ? 0 : 1);
    device->set_uuid(uuid);
    device->set_idle_time_ns(1000);
    device->set_steady_state_ns(2000);
    CopySummary* copy = summary.add_copies();
    copy->set_kind("peer to peer");
    copy->set_device_uuid(uuid);
  }
  const std::string text = RenderText(summary);
  for (const char* words : {"GPU 0: ", "GPU 1: ", "peer to peer, GPU 0", "peer to peer, GPU 1",
                            "Idle, GPU 0: ", "Idle, GPU 1: "}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
}

}  // namespace
}  // namespace utlz
