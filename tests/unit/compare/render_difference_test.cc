#include "tools/compare/render_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "collector/text/shown_text.h"
#include "tests/unit/compare/run_maker.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Difference SlowerWithAHostileName() {
  RunMaker maker(1);
  Summary before = maker.Make({.kernels = 4});
  Summary after = maker.Make({.kernels = 4});
  KernelSummary* kernel = FindKernel(after, "elementwise_1");
  kernel->set_time_ns(kernel->time_ns() * 2);
  kernel->set_short_name("<script>\x1b[2J|x\xff");
  after.mutable_kernels(3)->set_mangled_name("unseen_before");
  return Diff(before, after);
}

TEST(RenderDifferenceTest, TextShowsOnlyWhatChanged) {
  const std::string text = RenderDifferenceText(SlowerWithAHostileName());
  EXPECT_THAT(text, HasSubstr("<script>?[2J|x?"));
  EXPECT_THAT(text, HasSubstr("gone"));
  EXPECT_THAT(text, HasSubstr("new"));
  EXPECT_THAT(text, Not(HasSubstr("elementwise_0")));
  EXPECT_THAT(RenderDifferenceText(SlowerWithAHostileName(), {.unchanged = true}),
              HasSubstr("elementwise_0"));
}

TEST(RenderDifferenceTest, TextCountsWhatItLeavesOut) {
  EXPECT_THAT(RenderDifferenceText(SlowerWithAHostileName(), {.kernels = 1}),
              HasSubstr("and 2 more"));
}

TEST(RenderDifferenceTest, TablesFitEightyColumns) {
  Difference difference;
  KernelChange kernel;
  kernel.name_after = "multi_tensor<FusedAdamMathFunctor<float>, float, double, bool> [320,1,1]";
  kernel.time_ns.before = 3.017e6;
  kernel.time_ns.after = 2.716e6;
  kernel.time_ns.error = 80.46e3 / 1.959964;
  kernel.time_ns.verdict = Verdict::kDecrease;
  difference.kernels.push_back(kernel);
  difference.quantities.push_back({"flops", "FLOP", false, kernel.time_ns});
  difference.quantities[0].change.before = 10.7e12;
  difference.quantities[0].change.after = 9.777e12;
  difference.quantities[0].change.error = 467.6e9 / 1.959964;
  const auto rows = [&difference](size_t columns) {
    const std::string text = RenderDifferenceText(difference, {.columns = columns});
    return text.substr(text.find("Numbers of the run"));
  };
  std::istringstream lines(rows(80));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(ColumnsOf(line), 80u) << line;
  EXPECT_THAT(rows(80), HasSubstr("  …<FusedAda…ath> [320,1,1] "));
  EXPECT_THAT(rows(120), HasSubstr("  multi_tensor<FusedAdamMath> [320,1,1]"));
}

TEST(RenderDifferenceTest, PointsAreToldFromPerCent) {
  Difference difference;
  Change hfu;
  hfu.before = 0.0006617;
  hfu.after = 0.3447;
  hfu.error = 0.01;
  hfu.verdict = Verdict::kIncrease;
  difference.quantities.push_back({"hfu", "share", true, hfu});
  const std::string text = RenderDifferenceText(difference);
  EXPECT_THAT(text, HasSubstr("+34.4 pt +51993.1 %  ± 2.0 pt"));
  EXPECT_THAT(text, HasSubstr("± is the 95 % interval"));
}

TEST(RenderDifferenceTest, MarkdownHasChangesInTheUnitOfTheirIntervals) {
  Difference difference;
  Change change;
  change.before = 0.343;
  change.after = 0.395;
  change.error = 0.028 / 1.959964;
  change.verdict = Verdict::kIncrease;
  difference.quantities.push_back({"tensor_active", "share", true, change});
  change.before = 10e6;
  change.after = 9e6;
  change.error = 0.2e6 / 1.959964;
  change.verdict = Verdict::kDecrease;
  difference.quantities.push_back({"step_time_ns", "ns", false, change});
  const std::string text = RenderDifferenceMarkdown(difference);
  EXPECT_THAT(text, HasSubstr("| **+5.2 pt** (± 2.8 pt) |"));
  EXPECT_THAT(text, HasSubstr("| **−1.000 ms** (± 200.0 µs), −10.0 % |"));
}

TEST(RenderDifferenceTest, SlicesHaveTheReportsNames) {
  Difference difference;
  Change idle;
  idle.before = 1e6;
  idle.after = 4e6;
  idle.verdict = Verdict::kIncrease;
  difference.slices.push_back({"idle: other", idle});
  EXPECT_THAT(RenderDifferenceText(difference), HasSubstr("idle: gaps > 100 µs"));
  EXPECT_THAT(RenderDifferenceMarkdown(difference), HasSubstr("idle: gaps"));
}

TEST(RenderDifferenceTest, MarkdownEscapesNames) {
  const std::string text = RenderDifferenceMarkdown(SlowerWithAHostileName());
  EXPECT_THAT(text, Not(HasSubstr("<script>")));
  EXPECT_THAT(text, HasSubstr("<code>&#60;script&#62;&#63;&#91;2J&#124;x&#63;</code>"));
}

TEST(RenderDifferenceTest, JsonHoldsEveryKernel) {
  const auto json = nlohmann::json::parse(RenderDifferenceJson(SlowerWithAHostileName()));
  EXPECT_EQ(json["schema"], "utlz.difference/1");
  EXPECT_EQ(json["kernels"].size(), 5u);
  EXPECT_EQ(json["different"], true);
  const auto one_sided =
      std::count_if(json["kernels"].begin(), json["kernels"].end(), [](auto& kernel) {
        return kernel["matched_by"] == "nothing" && !kernel["time_ns"].contains("delta");
      });
  EXPECT_EQ(one_sided, 2);
}

TEST(RenderDifferenceTest, GateSaysItsOutcomeFirst) {
  RunMaker maker(2);
  const GateResult result = Gate({maker.Make({})}, {maker.Make({.step_ns = 20e6})});
  EXPECT_THAT(RenderGateText(result), testing::StartsWith("REGRESSION\n"));
  EXPECT_THAT(RenderGateMarkdown(result), testing::StartsWith("### Performance gate: regression"));
  const auto json = nlohmann::json::parse(RenderGateJson(result));
  EXPECT_EQ(json["outcome"], "regression");
  EXPECT_EQ(json["exit_status"], 1);
}

}  // namespace
}  // namespace utlz
