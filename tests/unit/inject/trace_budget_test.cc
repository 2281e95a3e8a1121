#include "inject/trace_budget.h"

#include <gtest/gtest.h>

namespace utlz::inject {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kTurnNs = 20'000'000;

// A load that launches at a rate while time passes; only what is traced is seen.
struct Simulation {
  TraceBudget budget;
  uint64_t launches = 0;
  uint64_t graph_nodes = 0;
  uint64_t traced_ns = 0;

  void Run(uint64_t duration_ns, uint64_t launches_per_second, uint64_t nodes_per_second) {
    for (uint64_t now_ns = 0; now_ns < duration_ns; now_ns += kTurnNs) {
      if (!budget.ShouldTrace(now_ns, launches, graph_nodes)) continue;
      traced_ns += kTurnNs;
      launches += launches_per_second * kTurnNs / kSecondNs;
      graph_nodes += nodes_per_second * kTurnNs / kSecondNs;
    }
  }
  double CostNs() const {
    return static_cast<double>(launches * TraceBudget::kLaunchCostNs +
                               graph_nodes * TraceBudget::kGraphNodeCostNs);
  }
};

TEST(TraceBudget, TracesEverythingThatIsAffordable) {
  Simulation simulation;
  simulation.budget.Start(0, 10'000);
  simulation.Run(60 * kSecondNs, 5'000, 0);
  EXPECT_EQ(simulation.traced_ns, 60 * kSecondNs);
}

TEST(TraceBudget, KeepsALaunchStormWithinItsShareAfterTheCredit) {
  for (uint32_t ppm : {1'000u, 10'000u, 50'000u}) {
    Simulation simulation;
    simulation.budget.Start(0, ppm);
    simulation.Run(600 * kSecondNs, 70'000, 200'000);
    const double share = TraceBudget::kShareForTracing * ppm / 1e6;
    const double allowed_ns = 600e9 * share + static_cast<double>(TraceBudget::kCreditNs);
    EXPECT_LE(simulation.CostNs(), allowed_ns * 1.02) << ppm;
    EXPECT_GE(simulation.CostNs(), allowed_ns * 0.90) << ppm << ": the budget is there to be used";
  }
}

TEST(TraceBudget, SaysWhatAllTracingHasCost) {
  for (uint32_t ppm : {0u, 10'000u}) {
    Simulation simulation;
    simulation.budget.Start(0, ppm);
    simulation.Run(60 * kSecondNs, 70'000, 200'000);
    simulation.budget.ShouldTrace(60 * kSecondNs, simulation.launches, simulation.graph_nodes);
    EXPECT_EQ(static_cast<double>(simulation.budget.charged_ns()), simulation.CostNs()) << ppm;
  }
}

TEST(TraceBudget, SeesTheBeginningOfAGraphReplayWhole) {
  Simulation simulation;
  simulation.budget.Start(0, 10'000);
  simulation.Run(kSecondNs / 2, 0, 190'000);
  EXPECT_EQ(simulation.traced_ns, kSecondNs / 2);
}

TEST(TraceBudget, EarnsNothingAsleep) {
  Simulation simulation;
  simulation.budget.Start(0, 10'000);
  simulation.Run(60 * kSecondNs, 70'000, 0);
  const uint64_t end_ns = 60 * kSecondNs;
  ASSERT_FALSE(simulation.budget.ShouldTrace(end_ns, simulation.launches + 100'000, 0));
  simulation.budget.Asleep(end_ns + 3'600 * kSecondNs);
  EXPECT_FALSE(simulation.budget.ShouldTrace(end_ns + 3'600 * kSecondNs + kTurnNs,
                                             simulation.launches + 100'000, 0));
}

TEST(TraceBudget, UnlimitedNeverStops) {
  Simulation simulation;
  simulation.budget.Start(0, 0);
  simulation.Run(10 * kSecondNs, 1'000'000, 0);
  EXPECT_EQ(simulation.traced_ns, 10 * kSecondNs);
}

}  // namespace
}  // namespace utlz::inject
