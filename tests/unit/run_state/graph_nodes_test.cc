#include "collector/run/graph_nodes.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace utlz {
namespace {

class GraphNodesTest : public ::testing::Test {
 protected:
  GraphNodesTest() { process_.source = 1; }

  // Variants that are nodes 1, 2, … of a graph; identifiers go on from those before.
  static void AddNodes(size_t count, uint32_t graph, ProcessState* process) {
    for (size_t i = 0; i < count; ++i) {
      VariantShape shape;
      shape.graph = graph;
      shape.graph_node = i + 1;
      process->variants.push_back(shape);
    }
  }
  static uint64_t LaunchesOf(const GraphNodes& nodes) {
    uint64_t launches = 0;
    for (const GraphNodes::Work& work : nodes.work()) launches += work.launches;
    return launches;
  }

  ProcessState process_;
};

TEST_F(GraphNodesTest, WorkIsByNodeAndStack) {
  AddNodes(2, 7, &process_);
  GraphNodes nodes;
  nodes.Add(process_, 0, 30, 4, 100);
  nodes.Add(process_, 0, 30, 4, 50);
  nodes.Add(process_, 0, 30, 5, 10);
  nodes.Add(process_, 1, 31, 4, 1);
  ASSERT_EQ(nodes.nodes().size(), 2u);
  EXPECT_EQ(nodes.nodes()[0].kernel, 30u);
  EXPECT_EQ(nodes.nodes()[0].graph, 7u);
  EXPECT_EQ(nodes.nodes()[0].launches, 3u);
  ASSERT_EQ(nodes.work().size(), 3u);
  EXPECT_EQ(nodes.work()[0].time_ns, 150u);
  EXPECT_EQ(nodes.work()[1].stack, 5u);
  nodes.Add(process_, 0, 99, 4, 100);
  EXPECT_EQ(LaunchesOf(nodes), 4u) << "a variant is one kernel";
  nodes.Add(process_, 2, 30, 4, 100);
  EXPECT_EQ(nodes.nodes().size(), 2u) << "a variant that was never announced";
}

TEST_F(GraphNodesTest, NodesAreBounded) {
  AddNodes(GraphNodes::kMostNodes + 10, 1, &process_);
  GraphNodes nodes;
  for (uint32_t i = 0; i < process_.variants.size(); ++i) nodes.Add(process_, i, 3, 1, 5);
  EXPECT_EQ(nodes.nodes().size(), GraphNodes::kMostNodes);
  EXPECT_EQ(LaunchesOf(nodes), GraphNodes::kMostNodes);
  nodes.Add(process_, 0, 3, 1, 5);
  EXPECT_EQ(LaunchesOf(nodes), GraphNodes::kMostNodes + 1) << "what has its place goes on";
}

TEST_F(GraphNodesTest, WorkIsBounded) {
  AddNodes(1, 1, &process_);
  GraphNodes nodes;
  for (uint32_t stack = 0; stack < GraphNodes::kMostWork + 10; ++stack) {
    nodes.Add(process_, 0, 3, stack, 5);
  }
  EXPECT_EQ(nodes.work().size(), GraphNodes::kMostWork);
  EXPECT_EQ(nodes.nodes()[0].launches, GraphNodes::kMostWork)
      << "what has no place is of the launch of its graph";
  nodes.Add(process_, 0, 3, 7, 5);
  EXPECT_EQ(nodes.nodes()[0].launches, GraphNodes::kMostWork + 1);
}

TEST_F(GraphNodesTest, MemoryIsTheRuns) {
  AddNodes(1000, 1, &process_);
  const auto memory = std::make_shared<MemoryBudget>(10'000);
  GraphNodes nodes(memory);
  for (uint32_t i = 0; i < 1000; ++i) nodes.Add(process_, i, 3, 1, 5);
  EXPECT_LE(memory->used_bytes(), 10'000u);
  EXPECT_GT(nodes.nodes().size(), 10u);
  EXPECT_LT(nodes.nodes().size(), 200u);
}

TEST_F(GraphNodesTest, AnUpdatedGraphHasTheNodesThatRanMost) {
  AddNodes(3, 1, &process_);
  AddNodes(2, 1, &process_);  // in the place of the first two
  GraphNodes nodes;
  for (const uint32_t variant : {2, 1, 0, 3, 3, 4}) nodes.Add(process_, variant, variant, 1, 5);
  const std::vector<std::vector<uint32_t>> graphs = nodes.Graphs();
  ASSERT_EQ(graphs.size(), 1u);
  std::vector<uint32_t> kernels;
  for (const uint32_t node : graphs[0]) kernels.push_back(nodes.nodes()[node].kernel);
  // In the order of their numbers. Of two that ran as often, the one that was seen first.
  EXPECT_EQ(kernels, (std::vector<uint32_t>{3, 1, 2}));
}

}  // namespace
}  // namespace utlz
