#include "collector/diagnosis/finding_owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "collector/analysis/analyze.h"
#include "tests/support/graph_run.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class FindingOwnersTest : public ::testing::Test {
 protected:
  // Of a finding of gaps, whose idle time is before one line.
  static std::string EvidenceOfGaps(const std::string& idle_after) {
    RunBuilder run;
    run.StartRun();
    run.StartProcess();
    SendGraphRun(0, &run);
    Summary summary = run.EndRun(1'000'000);
    summary.clear_findings();
    FindingSummary* finding = summary.add_findings();
    finding->set_rule("gaps_between_steps");
    OwnersSummary* owners = summary.mutable_owners();
    owners->Clear();
    owners->set_idle_time_ns(100);
    OwnerSummary* line = owners->add_lines();
    line->set_kind("line");
    line->set_name("train.py:54 main");
    line->set_idle_before_ns(80);
    line->set_idle_after(idle_after);
    const RunState& state = run.intake().Advance();
    NameOwnersInFindings(state, Analyze(state, std::nullopt), &summary);
    return finding->evidence();
  }

  // Of a finding that speaks of this kernel.
  std::string EvidenceOf(const std::string& kernel, int replays) {
    RunBuilder run;
    run.StartRun();
    run.StartProcess();
    SendGraphRun(replays, &run);
    Summary summary = run.EndRun(1'000'000);
    summary.clear_findings();
    FindingSummary* finding = summary.add_findings();
    finding->set_rule("one_kernel");
    finding->set_evidence(kernel + " is slow");
    const RunState& state = run.intake().Advance();
    NameOwnersInFindings(state, Analyze(state, std::nullopt), &summary);
    return finding->evidence();
  }
};

TEST_F(FindingOwnersTest, KernelsHaveTheLayerAndLineThatLaunchedThem) {
  EXPECT_EQ(EvidenceOf("gemm_up", 0),
            "gemm_up is slow; launched by part.*, model.py:42 forward (100.0 % of it)");
}

TEST_F(FindingOwnersTest, GapsBetweenLaunchesOfOneLineNameItOnce) {
  EXPECT_EQ(EvidenceOfGaps("train.py:60 step"),
            "; 80.0 % of the idle time is before train.py:54 main, mostly after train.py:60 step");
  EXPECT_EQ(EvidenceOfGaps("train.py:54 main"),
            "; 80.0 % of the idle time is before train.py:54 main, mostly after the same line");
}

// The line of the replay has launched them all, and says nothing of any.
TEST_F(FindingOwnersTest, KernelsOfGraphsHaveTheirInferredOwners) {
  const std::string evidence = EvidenceOf("gemm_down", 9);
  EXPECT_EQ(evidence,
            "gemm_down is slow; launched by part.*, model.py:44 forward (inferred) (90.0 % of it)");
  EXPECT_THAT(evidence, Not(HasSubstr("serve.py")));
}

}  // namespace
}  // namespace utlz
