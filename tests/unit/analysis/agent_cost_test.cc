#include "collector/analysis/agent_cost.h"

#include <gtest/gtest.h>

#include "proto/tracing_cost.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

// A process that has lived for a second.
class AgentCostTest : public testing::Test {
 protected:
  AgentCostTest() : process_(*state_.processes.Get(1)) {
    process_.info.set_start_time_ns(kRunStartNs);
    process_.has_status = true;
  }
  double Share() { return TracingCostShare(process_, kRunStartNs + kSecondNs).value_or(-1); }

  RunState state_;
  ProcessState& process_;
};

TEST_F(AgentCostTest, IsWhatTheDriverAndOurThreadTake) {
  process_.status.set_tracing_cost_ns(1'000'000);
  EXPECT_NEAR(Share(), 0.001, 1e-12);
  process_.status.set_agent_thread_cpu_ns(4'000'000);
  EXPECT_NEAR(Share(), 0.005, 1e-12);
}

TEST_F(AgentCostTest, OfAnAgentThatKeptNoAccountIsByLaunches) {
  process_.status.set_launches_recorded(1000);
  EXPECT_NEAR(Share(), 1000e-9 * kTracedLaunchNs, 1e-12);
  process_.graph_nodes = 400;
  EXPECT_NEAR(Share(), 1e-9 * (600 * kTracedLaunchNs + 400 * kTracedGraphNodeNs), 1e-12);
  process_.graph_nodes = 5000;  // a status may be older than the records
  EXPECT_NEAR(Share(), 1000e-9 * kTracedGraphNodeNs, 1e-12);
}

TEST_F(AgentCostTest, IsOfTheTimeThatTheProcessLived) {
  process_.status.set_tracing_cost_ns(1'000'000);
  process_.end.emplace();
  process_.end->set_time_ns(kRunStartNs + kSecondNs / 2);
  EXPECT_NEAR(Share(), 0.002, 1e-12);
  process_.end->set_time_ns(kRunStartNs);
  EXPECT_EQ(Share(), -1) << "no time";
}

TEST_F(AgentCostTest, IsNoMoreThanAllOfTheTime) {
  process_.status.set_tracing_cost_ns(uint64_t{1} << 62);
  EXPECT_EQ(Share(), 1);
}

TEST_F(AgentCostTest, IsNotKnownOfAnAgentThatSaidNothing) {
  process_.status.set_tracing_cost_ns(1'000'000);
  process_.has_status = false;
  EXPECT_EQ(Share(), -1);
  EXPECT_EQ(TracedLaunchCostNs(state_), 0);
  process_.has_status = true;
  EXPECT_EQ(TracedLaunchCostNs(state_), double{kTracedLaunchNs});
}

TEST_F(AgentCostTest, OfALaunchIsTheMeanThatTheAgentCharged) {
  process_.status.set_launches_recorded(1000);
  process_.graph_nodes = 400;
  process_.status.set_tracing_cost_ns(400 * kTracedGraphNodeNs + 600 * 3000);
  EXPECT_EQ(TracedLaunchCostNs(process_), 3000);
  process_.status.set_tracing_cost_ns(400 * kTracedGraphNodeNs + 600 * kMostTracedLaunchNs * 2);
  EXPECT_EQ(TracedLaunchCostNs(process_), double{kMostTracedLaunchNs});
}

TEST_F(AgentCostTest, OfGraphsIsOfTheirNodesWhereAnAgentTraced) {
  process_.graph_nodes = 100;
  ProcessState* silent = state_.processes.Get(2);
  silent->graph_nodes = 1000;
  EXPECT_EQ(TracedGraphsCostNs(state_), double{100 * kTracedGraphNodeNs});
  silent->has_status = true;
  EXPECT_EQ(TracedGraphsCostNs(state_), double{1100 * kTracedGraphNodeNs});
}

}  // namespace
}  // namespace utlz
