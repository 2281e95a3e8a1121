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

TEST(TextOwnersTest, NamesAreEscaped) {
  Summary summary = Example();
  AddOperation("add\x1b[31m", "kernel_name", &summary);
  EXPECT_EQ(By(GroupBy::kOperation, summary).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace utlz
