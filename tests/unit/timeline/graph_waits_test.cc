#include "collector/timeline/graph_waits.h"

#include <gtest/gtest.h>

#include "proto/tracing_cost.h"

namespace utlz {
namespace {

constexpr uint32_t kSource = 7;
constexpr uint64_t kNodes = 10;
constexpr uint64_t kNodeNs = 5'000;
// By so much recording lengthens the time before a launch.
constexpr uint64_t kRecordingNs = kNodes * GraphWaits::kRecordingNodeNs;
constexpr auto kPresenceNs = static_cast<uint64_t>(kNodes * kPresentGraphNodeNs);

class GraphWaitsTest : public testing::Test {
 protected:
  // What runs for `time_ns` after the GPU idled for `idle_ns`.
  void Run(uint64_t idle_ns, uint64_t time_ns, ActivityKind kind = ActivityKind::kCompute,
           bool of_graph = false, bool begins_launch = true) {
    waits_.Add({.start_ns = now_ns_ + idle_ns,
                .end_ns = now_ns_ + idle_ns + time_ns,
                .kernel = kind == ActivityKind::kCompute ? 1 : kNoKernel,
                .stream = 0,
                .context = 0,
                .source = kSource,
                .kind = kind,
                .begins_launch = begins_launch,
                .of_graph = of_graph});
    now_ns_ += idle_ns + time_ns;
  }
  // Nodes follow each other a microsecond apart.
  void LaunchGraph(uint64_t idle_ns, uint64_t nodes = kNodes) {
    Run(idle_ns, kNodeNs, ActivityKind::kCompute, true, true);
    for (uint64_t i = 1; i < nodes; ++i) {
      Run(1000, kNodeNs, ActivityKind::kCompute, true, false);
    }
  }
  double Share() { return waits_.WaitedShareOf(kSource).value(); }

  GraphWaits waits_;
  uint64_t now_ns_ = 1'700'000'000'000'000'000;
};

TEST_F(GraphWaitsTest, AGpuThatIdledForLongWaitedForAllNodes) {
  Run(0, kNodeNs);
  LaunchGraph(100'000'000);
  EXPECT_EQ(Share(), 1);
}

TEST_F(GraphWaitsTest, GraphsThatFollowEachOtherAreNotWaitedFor) {
  Run(0, kNodeNs);
  for (int i = 0; i < 5; ++i) LaunchGraph(2000);
  EXPECT_EQ(Share(), 0);
}

TEST_F(GraphWaitsTest, WhatRecordingAddedIsNoWaiting) {
  Run(0, kNodeNs);
  LaunchGraph(kRecordingNs);
  EXPECT_EQ(Share(), 0);
  LaunchGraph(kRecordingNs + kPresenceNs);
  EXPECT_DOUBLE_EQ(Share(), 0.5);
}

TEST_F(GraphWaitsTest, AShorterWaitIsForAPartOfALaunch) {
  Run(0, kNodeNs);
  LaunchGraph(kRecordingNs + kPresenceNs / 4);
  EXPECT_DOUBLE_EQ(Share(), 0.25);
}

TEST_F(GraphWaitsTest, LaunchesWeighByTheirNodes) {
  Run(0, kNodeNs);
  LaunchGraph(100'000'000, 30);
  LaunchGraph(0, 10);
  EXPECT_DOUBLE_EQ(Share(), 0.75);
}

// Anything may have run until then.
TEST_F(GraphWaitsTest, ALaunchAfterUntracedTimeTellsNothing) {
  LaunchGraph(0);
  EXPECT_FALSE(waits_.WaitedShareOf(kSource).has_value()) << "nothing was recorded before";
  Run(0, 1'000'000, ActivityKind::kUntraced);
  LaunchGraph(100'000'000);
  EXPECT_FALSE(waits_.WaitedShareOf(kSource).has_value());
  LaunchGraph(2000);
  EXPECT_EQ(Share(), 0);
}

TEST_F(GraphWaitsTest, OtherWorkUntilTheLaunchLeavesNothingToWaitFor) {
  Run(0, kNodeNs);
  Run(0, 50'000, ActivityKind::kHostToDevice);
  LaunchGraph(0);
  EXPECT_EQ(Share(), 0);
}

TEST_F(GraphWaitsTest, IsOfOneProcess) {
  Run(0, kNodeNs);
  LaunchGraph(100'000'000);
  EXPECT_FALSE(waits_.WaitedShareOf(kSource + 1).has_value());
}

}  // namespace
}  // namespace utlz
