// Layers, lines and operations as the text report shows them.
#include <gtest/gtest.h>

#include <string>

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
