// The first screen: the ladder, the families and the line about trust.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/report/example_summary.h"
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

TEST(TextLadderTest, ShowsRatesOnlyOfFamiliesThatWereCounted) {
  Summary summary = WithLadder();
  EXPECT_NE(RenderLadder(summary, {}).find("1.90 TB/s"), std::string::npos);
  summary.mutable_families(0)->set_time_without_counters_ns(1.8e9);
  const std::string text = RenderLadder(summary, {});
  EXPECT_EQ(text.find("1.90 TB/s"), std::string::npos) << text;
  EXPECT_NE(text.find("90.0 %"), std::string::npos) << text;
}

TEST(TextLadderTest, SaysNothingOfWhatIsNotKnown) { EXPECT_EQ(RenderLadder(Example(), {}), ""); }

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

}  // namespace
}  // namespace utlz
