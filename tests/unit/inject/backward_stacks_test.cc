#include "inject/python/backward_stacks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace utlz::agent {
namespace {

constexpr uint64_t kMain = 1, kOther = 2, kEngine = 3;

AutogradPlace Forward(uint64_t thread, uint64_t number) { return {false, {}, {thread, number}}; }
AutogradPlace In(uint64_t thread, uint64_t number) { return {true, {thread, number}, {}}; }

class BackwardStacksTest : public ::testing::Test {
 protected:
  BackwardStacksTest() { EXPECT_TRUE(stacks_.Create()); }

  // What a launch without Python frames in this node belongs to.
  DerivedStack Of(const AutogradPlace& place, uint64_t own = 0) {
    DerivedStack stack;
    const uint64_t hash = stacks_.OnLaunch(own, place);
    EXPECT_EQ(stacks_.Get(hash, &stack), hash != 0);
    return stack;
  }

  BackwardStacks stacks_;
};

TEST_F(BackwardStacksTest, LaunchesOutsideOfNodesHaveTheirOwnFrames) {
  EXPECT_EQ(stacks_.OnLaunch(71, Forward(kMain, 5)), 71u);
  EXPECT_EQ(stacks_.OnLaunch(0, Forward(kMain, 5)), 0u);
  EXPECT_EQ(stacks_.OnLaunch(72, {}), 72u);
  EXPECT_EQ(stacks_.counts().calls, 0u);
}

TEST_F(BackwardStacksTest, NodesHaveTheirForward) {
  stacks_.OnLaunch(71, Forward(kMain, 5));
  stacks_.OnLaunch(72, Forward(kMain, 5));  // later, without another node: it is not the node's
  const DerivedStack stack = Of(In(kMain, 5));
  EXPECT_EQ(stack, (DerivedStack{0, 71, 0, true, 0}));
  EXPECT_EQ(stacks_.counts().calls, 1u);
  EXPECT_EQ(stacks_.counts().without, 0u);
}

TEST_F(BackwardStacksTest, ThreadAndNumberTogetherAreTheKey) {
  stacks_.OnLaunch(71, Forward(kMain, 5));
  stacks_.OnLaunch(81, Forward(kOther, 5));
  EXPECT_EQ(Of(In(kMain, 5)).before, 71u);
  EXPECT_EQ(Of(In(kOther, 5)).before, 81u);
  EXPECT_EQ(stacks_.OnLaunch(0, In(kEngine, 5)), 0u);
  EXPECT_EQ(stacks_.counts().without, 1u);
}

TEST_F(BackwardStacksTest, NodesThatLaunchedNothingLieBetweenOthers) {
  stacks_.OnLaunch(71, Forward(kMain, 5));
  stacks_.OnLaunch(72, Forward(kMain, 8));
  EXPECT_EQ(Of(In(kMain, 6)), (DerivedStack{0, 71, 72, false, 0}));
  EXPECT_EQ(Of(In(kMain, 7)), (DerivedStack{0, 71, 72, false, 0}));
  EXPECT_EQ(stacks_.OnLaunch(0, In(kMain, 100)), 0u);
}

// A window begins within a forward pass: what launched before it was not seen.
TEST_F(BackwardStacksTest, NodesBesideTheFirstAndTheLastLaunchThatWasSeenHaveNone) {
  stacks_.OnLaunch(71, Forward(kMain, 5));
  stacks_.OnLaunch(72, Forward(kMain, 8));
  for (const uint64_t number : {0, 4, 9}) EXPECT_EQ(stacks_.OnLaunch(0, In(kMain, number)), 0u);
  EXPECT_EQ(stacks_.counts().without, 3u);
}

// Steps of forty nodes, each with a stack of its own.
TEST_F(BackwardStacksTest, NodesWhoseForwardWasNotSeenHaveThatOfEarlierSteps) {
  constexpr uint64_t kNodes = 40;
  const auto run_forward = [this](uint64_t step, uint64_t first) {
    for (uint64_t i = first; i < kNodes; ++i) {
      stacks_.OnLaunch(700 + i, Forward(kMain, 1000 + step * kNodes + i));
    }
  };
  run_forward(0, 0);
  EXPECT_EQ(stacks_.OnLaunch(0, In(kMain, 1000 + kNodes)), 0u)
      << "how long a step is, is not known";
  run_forward(1, 0);
  // A window begins in the middle of the third step.
  run_forward(2, kNodes / 2);
  EXPECT_EQ(Of(In(kMain, 1000 + 2 * kNodes + 30)), (DerivedStack{0, 730, 0, true, 0}));
  EXPECT_EQ(Of(In(kMain, 1000 + 2 * kNodes + 3)), (DerivedStack{0, 703, 703, false, 0}));
  EXPECT_EQ(Of(In(kMain, 1000 + 5 * kNodes + 3)), (DerivedStack{0, 703, 703, false, 0}));
  EXPECT_EQ(stacks_.OnLaunch(0, In(kMain, 1000 + 100 * kNodes)), 0u) << "too long ago";
  // Between two windows there are steps that nobody saw.
  for (const uint64_t step : {12, 20, 33, 46}) {
    stacks_.BeginWindow();
    run_forward(step, kNodes / 2);
  }
  EXPECT_EQ(Of(In(kMain, 1000 + 46 * kNodes + 30)), (DerivedStack{0, 730, 0, true, 0}));
  EXPECT_EQ(Of(In(kMain, 1000 + 46 * kNodes + 3)), (DerivedStack{0, 703, 703, false, 0}));
  // Steps that make other nodes have no period.
  for (uint64_t number = 100'000, i = 0; i < 200; ++i) {
    stacks_.OnLaunch(700 + i % kNodes, Forward(kMain, number += 1 + i * 7 % 29));
  }
  EXPECT_EQ(stacks_.OnLaunch(0, In(kMain, 1000 + 2 * kNodes + 3)), 0u);
}

TEST_F(BackwardStacksTest, GradientsOfANodeWithoutForwardHaveNone) {
  stacks_.OnLaunch(71, Forward(kMain, 5));
  EXPECT_NE(stacks_.OnLaunch(0, In(kMain, 5)), 0u);
  EXPECT_EQ(stacks_.OnLaunch(0, In(kMain, 4)), 0u);
  EXPECT_EQ(stacks_.OnLaunch(0, In(kMain, kAccumulateNumber)), 0u) << "not of the one before that";
}

TEST_F(BackwardStacksTest, GradientsAreAccumulatedForTheNodeBefore) {
  EXPECT_EQ(stacks_.OnLaunch(0, In(kMain, kAccumulateNumber)), 0u);
  stacks_.OnLaunch(71, Forward(kMain, 5));
  const uint64_t of_node = stacks_.OnLaunch(0, In(kMain, 5));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Of(In(kMain, kAccumulateNumber)), (DerivedStack{0, 0, 0, false, of_node}));
  }
  // Another thread was in no node before.
  std::thread([this] { EXPECT_EQ(stacks_.OnLaunch(0, In(kMain, kAccumulateNumber)), 0u); }).join();
  stacks_.BeginWindow();
  EXPECT_EQ(stacks_.OnLaunch(0, In(kMain, kAccumulateNumber)), 0u);
}

TEST_F(BackwardStacksTest, FramesInsideNodesAreKept) {
  stacks_.OnLaunch(71, Forward(kMain, 5));
  EXPECT_EQ(Of(In(kMain, 5), 91), (DerivedStack{91, 71, 0, true, 0}));
  EXPECT_EQ(Of(In(kMain, 50), 91), (DerivedStack{91, 0, 0, false, 0}));
}

// As torch.utils.checkpoint has it: what is computed again makes nodes on autograd's thread.
TEST_F(BackwardStacksTest, NodesMadeInsideOfNodesAreKnown) {
  AutogradPlace again = In(kMain, 5);
  again.made = {kEngine, 0};
  stacks_.OnLaunch(91, again);
  EXPECT_EQ(Of(In(kEngine, 0)), (DerivedStack{0, 91, 0, true, 0}));
}

TEST_F(BackwardStacksTest, AnotherReaderBeginsAnew) {
  stacks_.OnLaunch(71, Forward(kMain, 5));
  const uint64_t hash = stacks_.OnLaunch(0, In(kMain, 5));
  stacks_.BeginWindow();
  DerivedStack stack;
  EXPECT_TRUE(stacks_.Get(hash, &stack));
  EXPECT_EQ(Of(In(kMain, 5)).before, 71u) << "a window may begin between forward and backward";
  stacks_.Restart();
  EXPECT_FALSE(stacks_.Get(hash, &stack));
  EXPECT_EQ(stacks_.OnLaunch(0, In(kMain, 5)), 0u);
}

TEST(ForwardStacks, OlderNodesMakeRoom) {
  ForwardStacks stacks;
  ASSERT_TRUE(stacks.Create());
  stacks.Put(kMain, 3, 71);
  stacks.Put(kMain, 3 + ForwardStacks::kEntries, 72);
  EXPECT_EQ(stacks.Get(kMain, 3), 0u);
  EXPECT_EQ(stacks.Get(kMain, 3 + ForwardStacks::kEntries), 72u);
}

TEST(DerivedStacks, WhatHasNoRoomIsRefused) {
  DerivedStacks stacks;
  ASSERT_TRUE(stacks.Create());
  uint32_t refused = 0;
  for (uint64_t i = 1; i <= 2 * DerivedStacks::kEntries; ++i) {
    const DerivedStack stack = {i, 0, 0, false, 0};
    if (!stacks.Put(stack.Hash(), stack)) ++refused;
  }
  EXPECT_GE(refused, DerivedStacks::kEntries);
  EXPECT_TRUE(stacks.IsHalfFull());
  stacks.Clear();
  EXPECT_FALSE(stacks.IsHalfFull());
  const DerivedStack stack = {1, 2, 3, false, 0};
  EXPECT_TRUE(stacks.Put(stack.Hash(), stack));
}

// Threads that put the same places at the same time, each with the forward of its own.
TEST_F(BackwardStacksTest, ThreadsAtOnce) {
  constexpr uint64_t kThreads = 4, kNodes = 5000;
  std::atomic<uint64_t> wrong{0}, found{0};
  std::vector<std::thread> threads;
  for (uint64_t thread = 1; thread <= kThreads; ++thread) {
    threads.emplace_back([this, thread, &wrong, &found] {
      for (uint64_t number = 0; number < kNodes; ++number) {
        const uint64_t own = thread << 32 | (number % 100 + 1);
        stacks_.OnLaunch(own, Forward(thread, number));
        DerivedStack stack;
        const uint64_t hash = stacks_.OnLaunch(0, In(thread, number));
        if (hash == 0) continue;  // another thread's node took its place
        ++found;
        if (!stacks_.Get(hash, &stack) || stack.before >> 32 != thread) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(found, kThreads * kNodes / 2);
}

}  // namespace
}  // namespace utlz::agent
