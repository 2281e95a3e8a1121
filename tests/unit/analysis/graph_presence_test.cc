#include "collector/analysis/graph_presence.h"

#include <gtest/gtest.h>

#include "collector/analysis/presence_cost.h"
#include "collector/analysis/process_slowdown.h"
#include "collector/summary/capture_summary.h"
#include "proto/tracing_cost.h"
#include "tests/support/made_up_loads.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

constexpr uint64_t kNodes = 40;
constexpr uint64_t kLaunches = 100;
// So long that the GPU waited for the launch whatever it costs.
constexpr uint64_t kLongIdleNs = 1'000'000;

// A process that lived for a second and launched a graph of 40 nodes a hundred times.
class GraphPresenceTest : public testing::Test {
 protected:
  GraphPresenceTest() : process_(*state_.processes.Get(1)) {
    state_.devices[*state_.devices.Find(RunBuilder::Uuid())].used = true;
    process_.device_by_ordinal[0] = 0;
    process_.info.set_cupti_version(kFirstCuptiOfDearNodes);
    process_.info.set_start_time_ns(kRunStartNs);
    process_.end.emplace();
    process_.end->set_time_ns(kRunStartNs + 1'000'000'000);
    process_.has_status = true;
    process_.status.set_operations_recorded(kLaunches);
    process_.graph_nodes = kLaunches * kNodes;
    state_.run_end.emplace();
    state_.run_end->set_time_ns(process_.end->time_ns());
    analysis_.devices.emplace_back().part.content.time_ns[0] = 1e9;
  }

  void Sample() {
    state_.devices[0].status.emplace();
    state_.devices[0].status->set_sampling_ns(1'000'000);
  }

  void Launch(uint64_t idle_ns) {
    for (uint64_t node = 0; node < kNodes; ++node) {
      now_ns_ += node == 0 ? idle_ns : 1000;
      state_.devices[0].graph_waits.Add({.start_ns = now_ns_,
                                         .end_ns = now_ns_ + 10'000,
                                         .kernel = 1,
                                         .stream = 0,
                                         .context = 0,
                                         .source = 1,
                                         .kind = ActivityKind::kCompute,
                                         .begins_launch = node == 0,
                                         .of_graph = true});
      now_ns_ += 10'000;
    }
  }

  RunState state_;
  Analysis analysis_;
  ProcessState& process_;
  uint64_t now_ns_ = kRunStartNs;
};

TEST_F(GraphPresenceTest, IsOfEveryNodeWhereTheGpuWaitsForLaunches) {
  EXPECT_EQ(GraphNodeCostOf(state_, process_).ns, 0) << "no launch is known";
  Launch(0);
  Launch(kLongIdleNs);
  EXPECT_DOUBLE_EQ(GraphNodeCostOf(state_, process_).ns, kPresentGraphNodeNs);
  EXPECT_DOUBLE_EQ(GraphNodeCostOf(state_, process_).error_ns,
                   kFigureErrorShare * kPresentGraphNodeNs);
}

TEST_F(GraphPresenceTest, IsNothingWhereGraphsFollowEachOther) {
  for (int i = 0; i < 3; ++i) Launch(2000);
  EXPECT_EQ(GraphNodeCostOf(state_, process_).ns, 0);
  EXPECT_EQ(GraphNodeCostOf(state_, process_).error_ns, 0);
}

TEST_F(GraphPresenceTest, OlderCopiesOfCuptiDoLessForANode) {
  Launch(0);
  Launch(kLongIdleNs);
  process_.info.set_cupti_version(kFirstCuptiOfDearNodes - 1);
  EXPECT_DOUBLE_EQ(GraphNodeCostOf(state_, process_).ns, kOlderPresentGraphNodeNs);
}

TEST_F(GraphPresenceTest, SamplingSavesSomeOfIt) {
  Launch(0);
  Launch(kLongIdleNs);
  Sample();
  const GraphNodeCost cost = GraphNodeCostOf(state_, process_);
  EXPECT_DOUBLE_EQ(cost.ns, kPresentGraphNodeNs - kMostSampledGraphNodeSavingNs / 2);
  EXPECT_GT(cost.error_ns, kFigureErrorShare * kPresentGraphNodeNs);
}

// The program may have become faster, which the interval holds.
TEST_F(GraphPresenceTest, SamplingThatSavesMoreLeavesNothingAndAWiderInterval) {
  for (int i = 0; i < 3; ++i) Launch(2000);
  Sample();
  EXPECT_EQ(GraphNodeCostOf(state_, process_).ns, 0);
  EXPECT_GE(GraphNodeCostOf(state_, process_).error_ns, kMostSampledGraphNodeSavingNs);
}

TEST_F(GraphPresenceTest, LaunchesBetweenWindowsHaveAsManyNodes) {
  EXPECT_DOUBLE_EQ(GraphNodesLaunched(process_), kLaunches * kNodes);
  process_.status.set_operations_in_gaps(9 * kLaunches);
  EXPECT_DOUBLE_EQ(GraphNodesLaunched(process_), 10 * kLaunches * kNodes);
  process_.status.set_operations_recorded(0);
  EXPECT_DOUBLE_EQ(GraphNodesLaunched(process_), kLaunches * kNodes) << "not known how many";
}

TEST_F(GraphPresenceTest, IsPartOfWhatTheReportSaysOfTheProcess) {
  process_.status.set_tracing_cost_ns(1'000'000);
  process_.status.set_operations_in_gaps(kLaunches);
  const SlowdownPart before = SlowdownOfProcess(state_, analysis_, process_)->InAll();
  Launch(0);
  Launch(kLongIdleNs);
  const ProcessSlowdown slowdown = *SlowdownOfProcess(state_, analysis_, process_);
  const double share = 2 * kLaunches * kNodes * kPresentGraphNodeNs / 1e9;
  EXPECT_NEAR(slowdown.presence.share, share, 1e-12);
  EXPECT_NEAR(slowdown.presence.error_share, kFigureErrorShare * share, 1e-12);
  EXPECT_NEAR(slowdown.InAll().share, before.share + share, 1e-12);
  EXPECT_NEAR(slowdown.InAll().error_share, before.error_share + kFigureErrorShare * share, 1e-12);
}

TEST_F(GraphPresenceTest, IsPartOfWhatTheReportSaysOfTheSteps) {
  process_.status.set_tracing_cost_ns(1'000'000);
  Summary summary;
  SummarizeCapture(state_, analysis_, &summary);
  const SlowdownSummary before = summary.capture().slowdown();
  ASSERT_TRUE(before.has_steps_share());
  Launch(0);
  Launch(kLongIdleNs);
  analysis_.devices[0].part.content.time_ns[0] = 1e8;
  summary.Clear();
  SummarizeCapture(state_, analysis_, &summary);
  const double share = kLaunches * kNodes * kPresentGraphNodeNs / 1e8;
  const SlowdownSummary& after = summary.capture().slowdown();
  EXPECT_NEAR(after.steps_share(), 10 * before.steps_share() + share, 1e-9);
  EXPECT_GE(after.steps_error_share(), kFigureErrorShare * share);
}

}  // namespace
}  // namespace utlz
