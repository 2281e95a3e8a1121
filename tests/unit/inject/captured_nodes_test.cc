#include "inject/python/captured_nodes.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

namespace utlz::agent {
namespace {

// As CUPTI has them: the graph in the upper half.
constexpr uint64_t NodeOf(uint64_t graph, uint64_t index) { return graph << 32 | index; }

class CapturedNodesTest : public testing::Test {
 protected:
  CapturedNodesTest() { EXPECT_TRUE(nodes_.Create()); }

  // Hashes have the stack of their last digits, once it is known.
  static uint32_t Known(uint64_t hash) { return static_cast<uint32_t>(hash % 1000); }
  static uint32_t Unknown(uint64_t) { return 0; }

  CapturedNodes nodes_;
};

TEST_F(CapturedNodesTest, CloneHasTheStackOfItsOriginal) {
  EXPECT_TRUE(nodes_.empty());
  nodes_.PutCaptured(NodeOf(1, 1), 5001);
  nodes_.PutCaptured(NodeOf(1, 2), 5002);
  // Announced as new, from the frames that instantiate, and as a clone.
  nodes_.PutCaptured(NodeOf(2, 1), 5099);
  nodes_.PutCloned(NodeOf(2, 1), NodeOf(1, 1));
  // The other way round.
  nodes_.PutCloned(NodeOf(2, 2), NodeOf(1, 2));
  nodes_.PutCaptured(NodeOf(2, 2), 5099);
  nodes_.Name(Known);
  EXPECT_EQ(nodes_.StackOf(NodeOf(2, 1), Known), 1u);
  EXPECT_EQ(nodes_.StackOf(NodeOf(2, 2), Known), 2u);
  EXPECT_FALSE(nodes_.empty());
}

TEST_F(CapturedNodesTest, NodeThatIsNoCloneHasNone) {
  nodes_.PutCaptured(NodeOf(1, 1), 5001);
  EXPECT_EQ(nodes_.StackOf(NodeOf(1, 1), Known), 0u) << "its own making may be a clone's";
  EXPECT_EQ(nodes_.StackOf(NodeOf(7, 1), Known), 0u);
}

TEST_F(CapturedNodesTest, CloneOfACloneIsFollowed) {
  nodes_.PutCaptured(NodeOf(1, 1), 5001);
  nodes_.PutCloned(NodeOf(2, 1), NodeOf(1, 1));
  nodes_.PutCloned(NodeOf(3, 1), NodeOf(2, 1));
  EXPECT_EQ(nodes_.StackOf(NodeOf(3, 1), Known), 1u);
}

TEST_F(CapturedNodesTest, CirclesEnd) {
  nodes_.PutCaptured(NodeOf(1, 1), 5001);
  nodes_.PutCloned(NodeOf(2, 1), NodeOf(1, 1));
  nodes_.PutCloned(NodeOf(1, 1), NodeOf(2, 1));
  nodes_.PutCloned(NodeOf(1, 1), NodeOf(1, 1));
  EXPECT_EQ(nodes_.StackOf(NodeOf(2, 1), Known), 0u);
}

TEST_F(CapturedNodesTest, ClonesOfWhatWasNotCapturedTakeNoRoom) {
  nodes_.PutCloned(NodeOf(2, 1), NodeOf(1, 1));
  EXPECT_TRUE(nodes_.empty());
}

TEST_F(CapturedNodesTest, StackIsThatOfTheTimeOfTheCapture) {
  nodes_.PutCaptured(NodeOf(1, 1), 5001);
  nodes_.PutCloned(NodeOf(2, 1), NodeOf(1, 1));
  nodes_.Name(Known);
  // Another function lies there now.
  EXPECT_EQ(nodes_.StackOf(NodeOf(2, 1), [](uint64_t) { return 77u; }), 1u);
  nodes_.PutCaptured(NodeOf(1, 2), 5002);
  nodes_.PutCloned(NodeOf(2, 2), NodeOf(1, 2));
  nodes_.Name(Unknown);
  EXPECT_EQ(nodes_.StackOf(NodeOf(2, 2), Known), 2u) << "that of a part that was not known then";
}

TEST_F(CapturedNodesTest, WhatHasNoRoomHasNone) {
  for (uint64_t i = 0; i < CapturedNodes::kMostNodes; ++i)
    nodes_.PutCaptured(NodeOf(1, i + 1), 5001);
  EXPECT_FALSE(nodes_.full());
  nodes_.PutCaptured(NodeOf(2, 1), 5002);
  nodes_.PutCloned(NodeOf(3, 1), NodeOf(1, 1));
  EXPECT_TRUE(nodes_.full());
  EXPECT_EQ(nodes_.StackOf(NodeOf(3, 1), Known), 0u);
  nodes_.Clear();
  EXPECT_FALSE(nodes_.full());
  EXPECT_TRUE(nodes_.empty());
  nodes_.PutCaptured(NodeOf(1, 1), 5003);
  nodes_.PutCloned(NodeOf(2, 1), NodeOf(1, 1));
  EXPECT_EQ(nodes_.StackOf(NodeOf(2, 1), Known), 3u);
}

TEST_F(CapturedNodesTest, WhatIsAnnouncedAgainTakesNoMoreRoom) {
  nodes_.PutCaptured(NodeOf(1, 1), 5001);
  for (uint32_t i = 0; i < CapturedNodes::kMostNodes; ++i) {
    nodes_.PutCloned(NodeOf(2, 1), NodeOf(1, 1));
    nodes_.PutCaptured(NodeOf(2, 1), 5099);
  }
  EXPECT_FALSE(nodes_.full());
}

TEST_F(CapturedNodesTest, ThreadsCaptureBesideEachOther) {
  constexpr uint64_t kThreads = 4, kNodes = 5000;
  std::vector<std::thread> threads;
  for (uint64_t thread = 1; thread <= kThreads; ++thread) {
    threads.emplace_back([this, thread] {
      for (uint64_t i = 1; i <= kNodes; ++i) {
        nodes_.PutCaptured(NodeOf(thread, i), 5000 + thread);
        nodes_.PutCloned(NodeOf(thread + kThreads, i), NodeOf(thread, i));
      }
    });
  }
  nodes_.Name(Known);
  for (std::thread& thread : threads) thread.join();
  nodes_.Name(Known);
  for (uint64_t thread = 1; thread <= kThreads; ++thread) {
    for (uint64_t i = 1; i <= kNodes; ++i) {
      ASSERT_EQ(nodes_.StackOf(NodeOf(thread + kThreads, i), Unknown), thread);
    }
  }
}

}  // namespace
}  // namespace utlz::agent
