// Layers, lines and operations as the text report shows them.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "collector/text/shown_text.h"
#include "tests/unit/report/example_summary.h"
#include "tools/report/text.h"

namespace utlz {
namespace {

OwnerSummary* AddOperation(const std::string& name, const std::string& origin, Summary* summary) {
  OwnerSummary* operation = summary->mutable_owners()->add_operations();
  operation->set_kind("operation");
  operation->set_name(name);
  operation->set_origin(origin);
  operation->set_time_ns(2e9);
  operation->set_own_time_ns(2e9);
  return operation;
}

std::string By(GroupBy group, const Summary& summary) {
  return RenderText(summary, {.group_by = group});
}

TEST(TextOwnersTest, OperationsOfNamesAndFamiliesAreToldApart) {
  Summary summary = Example();
  OwnerSummary* fused = AddOperation("add + relu", "kernel_name", &summary);
  fused->set_flops(3e12);
  fused->set_estimated_savings_ns(1e9);
  fused->set_estimated_savings_error_ns(1e8);
  const std::string named = By(GroupBy::kOperation, summary);
  EXPECT_EQ(LineWith(named, "add + relu").find("add + relu"), 0u);
  EXPECT_NE(LineWith(named, "add + relu").find("± 196 ms"), std::string::npos) << named;
  EXPECT_NE(named.find("that a compiler wrote"), std::string::npos);
  EXPECT_EQ(named.find("In brackets"), std::string::npos);
  AddOperation("gemm", "family", &summary);
  const std::string both = By(GroupBy::kOperation, summary);
  EXPECT_NE(LineWith(both, "(gemm)"), "") << both;
  EXPECT_NE(both.find("In brackets"), std::string::npos);
}

TEST(TextOwnersTest, OperationsBesideLaunchesAreNoFamilies) {
  Summary summary = Example();
  AddOperation("mm", "compiled_code", &summary);
  const std::string beside = By(GroupBy::kOperation, summary);
  EXPECT_EQ(LineWith(beside, "mm").find("mm"), 0u) << beside;
  EXPECT_NE(beside.find("a compiler wrote beside the launches."), std::string::npos) << beside;
  AddOperation("add", "kernel_name", &summary);
  EXPECT_NE(By(GroupBy::kOperation, summary).find("beside the launches or into the"),
            std::string::npos);
}

TEST(TextOwnersTest, CoverageNamesOtherOwnersThanLayers) {
  Summary summary = Example();
  OwnersSummary* owners = summary.mutable_owners();
  owners->set_line_share(1);
  owners->set_layer_share(0.75);
  owners->set_inferred_share(0);
  owners->set_ownerless_share(0.01);
  const auto text = [&summary] {
    std::string by_line = RenderText(summary, {.group_by = GroupBy::kLine, .columns = 400});
    return LineWith(by_line, "has a line");
  };
  EXPECT_EQ(
      text().find("Of the kernels' time 100.0 % has a line, 75.0 % a layer, 0.0 % an inferred "
                  "one; 1.0 % has no owner."),
      0u)
      << text();
  owners->set_function_share(0.189);
  owners->set_optimizer_share(0.05);
  EXPECT_NE(text().find("one; 18.9 % is of functions outside of layers, 5.0 % of optimizers; "),
            std::string::npos)
      << text();
}

OwnerSummary* AddLine(const std::string& file, uint32_t number, const std::string& function,
                      double time_ns, Summary* summary) {
  OwnerSummary* line = summary->mutable_owners()->add_lines();
  line->set_kind("line");
  line->set_name(file + ":" + std::to_string(number) + " " + function);
  line->set_line(number);
  line->set_function(function);
  line->set_time_ns(time_ns);
  line->set_time_share(0.5);
  line->set_steady_state_share(1);
  return line;
}

Summary WithLines() {
  Summary summary = Example();
  summary.mutable_steady_state()->set_scope("steps");
  OwnersSummary* owners = summary.mutable_owners();
  owners->set_line_share(0.8);
  owners->set_idle_time_ns(100e6);
  OwnerSummary* step = AddLine("gpt_train.py", 24, "GptTraining.step", 2e9, &summary);
  step->set_idle_before_ns(40e6);
  step->set_idle_after("gpt_train.py:24 GptTraining.step");
  step->set_flops(1e15);
  step->set_dram_bytes(3e12);
  step->set_hfu(0.5);
  step->set_bound(BOUND_COMPUTE);
  step->set_estimated_savings_ns(1e8);
  step->set_estimated_savings_error_ns(1e7);
  OwnerSummary* next = AddLine("gpt_train.py", 27, "GptTraining.step", 1e9, &summary);
  next->set_idle_before_ns(30e6);
  next->set_idle_after("(no line)");
  return summary;
}

TEST(TextOwnersTest, LinesKeepTheirPlaceInEightyColumns) {
  const Summary summary = WithLines();
  const std::string text = RenderText(summary, {.group_by = GroupBy::kLine, .columns = 80});
  EXPECT_NE(LineWith(text, "gpt_train.py:24 "), "") << text;
  EXPECT_NE(LineWith(text, "gpt_train.py:27 "), "") << text;
  EXPECT_NE(text.find("    40.0 % of the idle time is before it, mostly after the same line\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("30.0 % of the idle time is before it, mostly after launches whose line is"),
            std::string::npos)
      << text;
  EXPECT_NE(LineWith(text, "gpt_train.py:24 ").find("± 20 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("in the whole run; idle: the time before it, in the steps alone\n"),
            std::string::npos);
}

TEST(TextOwnersTest, NoTableIsWiderThanAsked) {
  const Summary summary = WithLines();
  for (const uint32_t columns : {60u, 70u, 80u, 90u, 100u, 120u}) {
    std::istringstream lines(RenderText(summary, {.group_by = GroupBy::kLine, .columns = columns}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(ColumnsOf(line), columns) << line;
    }
  }
}

TEST(TextOwnersTest, TimeOutsideOfTheStepsIsSaid) {
  Summary summary = WithLines();
  const std::string note = "90.0 % of its time is outside of the steps";
  EXPECT_EQ(By(GroupBy::kLine, summary).find("outside of the steps"), std::string::npos);
  summary.mutable_owners()->mutable_lines(0)->set_steady_state_share(0.1);
  EXPECT_NE(By(GroupBy::kLine, summary).find(note), std::string::npos);
  summary.mutable_steady_state()->set_scope("run");
  EXPECT_EQ(By(GroupBy::kLine, summary).find(note), std::string::npos) << "there are no steps";
}

TEST(TextOwnersTest, CoverageIsToldOfTheStepsToo) {
  Summary summary = WithLines();
  OwnersSummary* owners = summary.mutable_owners();
  owners->set_steady_state_line_share(1);
  owners->set_steady_state_inferred_share(0.6);
  const std::string text = RenderText(summary, {.group_by = GroupBy::kLine, .columns = 400});
  EXPECT_NE(text.find("has no owner. In the steps alone 100.0 % has a line, 0.0 % a layer, "
                      "60.0 % an inferred one; 0.0 % has no owner."),
            std::string::npos)
      << text;
}

// FLOPs of a tenth of its time are no figure of a row.
TEST(TextOwnersTest, FlopsOfLittleOfTheTimeAreNotShown) {
  Summary summary = WithLines();
  OwnerSummary* line = summary.mutable_owners()->mutable_lines(0);
  line->set_time_without_flops_ns(0.4 * line->time_ns());
  EXPECT_NE(LineWith(By(GroupBy::kLine, summary), "gpt_train.py:24").find(" 1.00P "),
            std::string::npos);
  line->set_time_without_flops_ns(0.9 * line->time_ns());
  EXPECT_EQ(LineWith(By(GroupBy::kLine, summary), "gpt_train.py:24").find(" 1.00P "),
            std::string::npos);
}

TEST(TextOwnersTest, PassesListRowsThatHaveThem) {
  Summary summary = WithLines();
  summary.mutable_owners()->set_backward_share(0.3);
  summary.mutable_owners()->mutable_lines(0)->set_backward_time_ns(1e9);
  const std::string text = By(GroupBy::kLine, summary);
  const std::string passes = text.substr(text.find("passes of lines"));
  EXPECT_NE(LineWith(passes, "gpt_train.py:24"), "") << passes;
  EXPECT_EQ(LineWith(passes, "gpt_train.py:27"), "") << passes;
  EXPECT_EQ(passes.find("forward"), std::string::npos) << "lines launch optimizers, too";
}

TEST(TextOwnersTest, WithoutStacksOperationsAreShownAlone) {
  Summary summary = Example();
  AddOperation("gemm", "family", &summary);
  EXPECT_NE(LineWith(By(GroupBy::kOperation, summary), "(gemm)"), "");
  EXPECT_EQ(By(GroupBy::kOperation, summary).find("No stacks"), std::string::npos);
  for (const GroupBy group : {GroupBy::kLayer, GroupBy::kLine}) {
    EXPECT_NE(By(group, summary).find("No stacks of launches were recorded"), std::string::npos);
  }
  EXPECT_EQ(By(GroupBy::kKernel, summary).find("has a line"), std::string::npos);
}

TEST(TextOwnersTest, PartsOfCompiledCodeStandBelowTheirLayer) {
  Summary summary = Example();
  OwnersSummary* owners = summary.mutable_owners();
  owners->set_backward_share(0.5);
  const auto add = [owners](const std::string& kind, const std::string& name, int parent) {
    OwnerSummary* row = owners->add_layers();
    row->set_kind(kind);
    row->set_name(name);
    row->set_model("OptimizedModule");
    row->set_time_ns(2e9);
    if (parent >= 0) row->set_parent(parent);
    if (kind != "layer") row->set_inferred_time_ns(2e9);
    return row;
  };
  add("layer", "OptimizedModule", -1);
  add("layer", "_orig_mod", 0);
  OwnerSummary* part = add("repeated_part", "(backward repeated part)", 1);
  part->set_instances(12);
  part->set_backward_time_ns(2e9);
  add("repeated_part", "(backward part) 2 prims.mm", 2)->set_instances(12);
  add("part", "(backward end)", 1);
  const std::string text = RenderText(summary, {.group_by = GroupBy::kLayer, .columns = 140});
  const auto begin = [&text](const std::string& name) {
    const std::string line = LineWith(text, name);
    return line.substr(0, line.find("  ", line.find_first_not_of(' ')));
  };
  EXPECT_EQ(begin("_orig_mod"), "  _orig_mod") << text;
  EXPECT_EQ(begin("repeated part"), "    (backward repeated part) ×12 ~") << text;
  EXPECT_EQ(begin("prims.mm"), "      2 prims.mm ~") << "the whole name, and once how often";
  EXPECT_EQ(begin("(backward end)"), "    (backward end) ~") << text;
  const std::string passes = text.substr(text.find("passes of layers"));
  EXPECT_NE(LineWith(passes, "repeated part").find("2.00 s         0    2.00 s"), std::string::npos)
      << passes;
}

TEST(TextOwnersTest, NamesAreEscaped) {
  Summary summary = Example();
  AddOperation("add\x1b[31m", "kernel_name", &summary);
  EXPECT_EQ(By(GroupBy::kOperation, summary).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace utlz
