// The first screen: the ladder, the families and the line about trust.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/report/example_summary.h"
#include "tools/report/capture_text.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

void AddRung(const char* name, double time_ns, LadderSummary* ladder) {
  LadderRung* rung = ladder->add_rungs();
  rung->set_name(name);
  rung->set_time_ns(time_ns);
  rung->set_speedup(ladder->rungs(0).time_ns() / time_ns);
}

Summary WithLadder() {
  Summary summary = Example();
  summary.set_problem("launch-bound");
  summary.set_trust("12 % of the steps' time traced");
  summary.mutable_steady_state()->set_scope("steps");
  LadderSummary* ladder = summary.mutable_ladder();
  ladder->set_unit("token");
  AddRung("now", 15e6, ladder);
  AddRung("no_idle", 3e6, ladder);
  FamilySummary* gemm = summary.add_families();
  gemm->set_family("gemm");
  gemm->set_time_ns(2e9);
  gemm->set_time_per_step_ns(2e6);
  gemm->set_time_share(0.7);
  gemm->set_dram_bytes_per_second(1.9e12);
  gemm->set_estimated_savings_ns(1e9);
  gemm->set_estimated_savings_per_step_ns(1e6);
  return summary;
}

TEST(TextLadderTest, ShowsTheUnitAndWhatItWouldTake) {
  const std::string text = RenderLadder(WithLadder(), {});
  EXPECT_NE(text.find("LAUNCH-BOUND\n"), std::string::npos) << text;
  EXPECT_NE(text.find("one token"), std::string::npos) << text;
  EXPECT_NE(text.find("15.0 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("5.00×"), std::string::npos) << text;
  EXPECT_NE(text.find("Measured: 12 % of the steps' time traced"), std::string::npos) << text;
}

void AddPhase(const char* name, double time_ns, Summary* summary) {
  PhaseSummary* phase = summary->add_phases();
  phase->set_name(name);
  phase->set_time_ns(time_ns);
}

TEST(TextPhasesTest, StepsThatMayHaveGoneOnUntracedTookAtLeastSoLong) {
  Summary summary;
  AddPhase("setup", 5e9, &summary);
  AddPhase("steps", 13.3e9, &summary);
  AddPhase("end", 2e9, &summary);
  EXPECT_EQ(RenderPhases(summary, {}),
            "Run: 5.00 s set-up before the first step, 13.3 s steps, 2.00 s after it\n");
  summary.mutable_phases(2)->set_name("untraced");
  AddPhase("end", 220e6, &summary);
  TextOptions wide;
  wide.columns = 200;
  EXPECT_EQ(RenderPhases(summary, wide),
            "Run: 5.00 s set-up before the first step, at least 13.3 s steps, 2.00 s not traced "
            "after the last traced one, 220 ms after it\n");
}

TEST(TextPhasesTest, StepsMayGoOnAfterThoseThatPercentagesCover) {
  SteadyStateSummary window;
  window.set_scope("steps");
  window.set_start_ns(18.7e9);
  window.set_end_ns(23.6e9);
  window.set_time_ns(3.75e9);
  EXPECT_EQ(
      DescribeWindow(window),
      "Percentages cover the steps only, traced from 18.7 s to 23.6 s of the run: 3.75 s of it");
}

TEST(TextLadderTest, ARungThatCountersMadeHasItsInterval) {
  Summary summary = WithLadder();
  EXPECT_EQ(RenderLadder(summary, {}).find("±"), std::string::npos);
  summary.mutable_ladder()->mutable_rungs(1)->set_time_error_ns(1e5);
  EXPECT_NE(RenderLadder(summary, {}).find("×  ± 196 µs\n"), std::string::npos);
}

TEST(TextLadderTest, ShowsRatesOnlyOfFamiliesThatWereCounted) {
  Summary summary = WithLadder();
  EXPECT_NE(RenderLadder(summary, {}).find("1.90 TB/s"), std::string::npos);
  EXPECT_EQ(RenderLadder(summary, {}).find("uncounted"), std::string::npos);
  summary.mutable_families(0)->set_time_without_counters_ns(1.8e9);
  const std::string text = RenderLadder(summary, {});
  EXPECT_EQ(text.find("1.90 TB/s"), std::string::npos) << text;
  EXPECT_NE(text.find("90.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("uncounted"), std::string::npos) << text;
}

// Communication has no roofline: nothing of it is uncounted, and nothing is known above a roof.
TEST(TextLadderTest, AFamilyWithoutARoofHasADashAboveIt) {
  Summary summary = WithLadder();
  summary.mutable_families(0)->set_time_without_counters_ns(0.2e9);
  FamilySummary* communication = summary.add_families();
  communication->set_family("communication");
  communication->set_time_ns(1e9);
  communication->set_time_per_step_ns(1e6);
  communication->set_time_share(0.3);
  communication->set_time_without_counters_ns(0);
  const std::string text = RenderLadder(summary, {});
  const size_t row = text.find("  communication ");
  ASSERT_NE(row, std::string::npos) << text;
  EXPECT_EQ(text.substr(row, text.find('\n', row) - row),
            "  communication      1.00 ms   30.0 %            –           –");
}

TEST(TextLadderTest, SaysNothingOfWhatIsNotKnown) { EXPECT_EQ(RenderLadder(Example(), {}), ""); }

FindingSummary* AddFinding(const char* rule, const char* title, double gain_ns, bool below,
                           Summary* summary) {
  FindingSummary* finding = summary->add_findings();
  finding->set_rule(rule);
  finding->set_title("of " + std::string(rule));
  finding->set_title_short(title);
  finding->set_gain_ns(1e3 * gain_ns);
  finding->set_gain_per_step_ns(gain_ns);
  finding->set_gain_share(gain_ns / 15e6);
  finding->set_below_threshold(below);
  return finding;
}

TEST(TextDoFirstTest, ThreeLossesStandInALineEach) {
  Summary summary = WithLadder();
  summary.clear_findings();
  AddFinding("launch_bound", "Launch-bound: CUDA graphs", 9e6, false, &summary);
  AddFinding("small_batch", "Larger batch", 2e6, true, &summary);
  AddFinding("remaining", "The rest", 1.5e6, true, &summary);
  AddFinding("synchronization", "Readbacks", 1e6, true, &summary);
  AddFinding("padding", "Padding", 5e5, true, &summary);
  const std::string text = RenderLadder(summary, {});
  EXPECT_NE(text.find("do first"), std::string::npos) << text;
  const std::string line = "  1  Launch-bound: CUDA graphs";
  const size_t first = text.find(line);
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_LT(text.find("9.00 ms   60.0 %", first), text.find("  2  Larger batch"));
  EXPECT_LT(text.find("  2  Larger batch"), text.find("  3  Readbacks"));
  EXPECT_EQ(text.find("The rest"), std::string::npos) << "nothing that could be done";
  EXPECT_EQ(text.find("Padding"), std::string::npos) << "three are enough";
  EXPECT_GT(first, text.find("Measured:")) << "behind what says how far it can be trusted";
}

TEST(TextDoFirstTest, SmallLossesAreNotToldToBeDoneFirst) {
  Summary summary = Example();
  EXPECT_EQ(RenderDoFirst(summary, {}), "");
  AddFinding("small_batch", "Larger batch", 2e5, true, &summary);
  const std::string text = RenderDoFirst(summary, {});
  EXPECT_EQ(text.find("do first"), std::string::npos) << text;
  EXPECT_NE(text.find("largest losses, each of them small"), std::string::npos) << text;
}

TEST(TextDoFirstTest, ALossThatIsNoFaultIsNotCalledSmall) {
  Summary summary = Example();
  AddFinding("padded_tiles", "Products of few rows", 9e6, true, &summary);
  summary.mutable_findings(0)->set_gain_share(0.6);
  const std::string text = RenderDoFirst(summary, {});
  EXPECT_NE(text.find("largest losses "), std::string::npos) << text;
  EXPECT_EQ(text.find("small"), std::string::npos) << text;
}

TEST(TextDoFirstTest, ALossWithoutAnAmountHasADash) {
  Summary summary = Example();
  FindingSummary* leak = summary.add_findings();
  leak->set_rule("memory_leak");
  leak->set_title_short("GPU memory grows: \x1b[2J");
  const std::string text = RenderDoFirst(summary, {});
  EXPECT_NE(text.find("–"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(TextLadderTest, SaysThatNoStepsWereFound) {
  Summary summary = Example();
  summary.mutable_steady_state()->set_scope("run");
  EXPECT_NE(RenderLadder(summary, {}).find("Steps: none found"), std::string::npos);
  summary.mutable_kernels()->DeleteSubrange(1, 1);
  summary.mutable_kernels(0)->set_launches(3);
  EXPECT_EQ(RenderLadder(summary, {}), "") << "three launches need no steps";
}

TEST(TextLadderTest, WhoMakesRanksWaitIsOnTheFirstScreen) {
  Summary summary = WithLadder();
  summary.mutable_ranks()->set_verdict("Rank 2 (b) is last.");
  EXPECT_NE(RenderLadder(summary, {}).find("Ranks: Rank 2 (b) is last."), std::string::npos);
}

TEST(TextLadderTest, FamiliesOfSeveralGpusAreOfOneEach) {
  Summary summary = WithLadder();
  EXPECT_EQ(RenderLadder(summary, {}).find("per GPU"), std::string::npos);
  summary.add_devices();
  EXPECT_NE(RenderLadder(summary, {}).find("family (per GPU)"), std::string::npos);
}

TEST(TextLadderTest, FamiliesNamedByAStrangerAreEscaped) {
  Summary summary = WithLadder();
  summary.mutable_families(0)->set_family("\x1b[2Jgemm");
  EXPECT_EQ(RenderLadder(summary, {}).find('\x1b'), std::string::npos);
}

TEST(TextFindingsTest, SmallLossesStandInOneParagraph) {
  Summary summary = Example();
  summary.clear_findings();
  FindingSummary* large = summary.add_findings();
  large->set_title("The large one");
  large->set_type_this("torch.compile(model)");
  FindingSummary* small = summary.add_findings();
  small->set_title("A loss that is small");
  small->set_title_short("Small loss");
  small->set_advice("never shown");
  small->set_below_threshold(true);
  const std::string text = RenderFindings(summary, {});
  EXPECT_NE(text.find("1. The large one"), std::string::npos) << text;
  EXPECT_NE(text.find("Type: torch.compile(model)"), std::string::npos) << text;
  EXPECT_NE(text.find("Each of these alone is small: Small loss"), std::string::npos) << text;
  EXPECT_EQ(text.find("never shown"), std::string::npos) << text;
}

TEST(TextFindingsTest, WhatIsNotSmallStandsApartFromSmallLosses) {
  Summary summary = Example();
  summary.clear_findings();
  for (const auto& [title, share] : {std::pair("Large", 0.2), {"Limit", 0.6}, {"Small", 0.02}}) {
    FindingSummary* finding = summary.add_findings();
    finding->set_title(title);
    finding->set_gain_ns(share * 1e7);
    finding->set_gain_share(share);
    finding->set_below_threshold(std::string(title) != "Large");
  }
  const std::string text = RenderFindings(summary, {});
  EXPECT_NE(
      text.find("Not small, but seldom the first thing to change: Limit (up to 6.00 ms, 60.0 %)"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("Each of these alone is small: Small (up to"), std::string::npos) << text;
}

TEST(TextFindingsTest, WhereAllLossesAreSmallTheLargestSaysWhatToType) {
  Summary summary = Example();
  summary.clear_findings();
  for (const char* rule : {"first", "second", "remaining"}) {
    FindingSummary* finding = summary.add_findings();
    finding->set_rule(rule);
    finding->set_title(std::string("Loss of the ") + rule);
    finding->set_advice(std::string("advice for the ") + rule);
    finding->set_type_this(std::string("type for the ") + rule);
    finding->set_gain_ns(1e6);
    finding->set_gain_share(0.05);
    finding->set_below_threshold(true);
  }
  const std::string text = RenderFindings(summary, {});
  EXPECT_EQ(text.find("1. Loss of the first (up to 1.00 ms, 5.0 %)"), 0u) << text;
  EXPECT_NE(text.find("Type: type for the first"), std::string::npos) << text;
  EXPECT_EQ(text.find("type for the second"), std::string::npos) << text;
  EXPECT_NE(text.find("Each of these alone is small: Loss of the second (up to"), std::string::npos)
      << text;
  // The rest is a sentence of its own: it is no loss beside others.
  EXPECT_NE(text.find("\nLoss of the remaining (up to 1.00 ms, 5.0 %).\n"), std::string::npos)
      << text;
  summary.mutable_findings()->DeleteSubrange(0, 2);
  EXPECT_EQ(RenderFindings(summary, {}), "Loss of the remaining (up to 1.00 ms, 5.0 %).\n");
}

}  // namespace
}  // namespace utlz
