#include "inject/record/stack_tree.h"

#include <gtest/gtest.h>

#include <vector>

#include "proto/profile.pb.h"

namespace utlz::agent {
namespace {

TEST(StackTree, EqualStacksHaveOneNumber) {
  StackTree tree;
  ASSERT_TRUE(tree.Create());
  const uint32_t outer = tree.Find({.parent = 0, .name = 1, .file = 2, .line = 3});
  const uint32_t inner = tree.Find({.parent = outer, .name = 1, .file = 2, .line = 3});
  EXPECT_EQ(outer, StackTree::kFirst);
  EXPECT_NE(inner, outer);
  EXPECT_EQ(tree.Find({.parent = 0, .name = 1, .file = 2, .line = 3}), outer);
  EXPECT_NE(tree.Find({.parent = 0, .name = 1, .file = 2, .line = 4}), outer);
  EXPECT_NE(tree.Find({.parent = 0, .name = 1, .file = 2, .line = 3, .kind = 1}), outer);
  EXPECT_EQ(tree.size(), 5u);
  tree.Clear();
  EXPECT_EQ(tree.Find({.parent = 0, .name = 9}), StackTree::kFirst);
}

TEST(StackTree, WhatStacksHaveInCommon) {
  StackTree tree;
  ASSERT_TRUE(tree.Create());
  const uint32_t outer = tree.Find({.parent = 0, .name = 1});
  const uint32_t one = tree.Find({.parent = outer, .name = 2});
  const uint32_t other = tree.Find({.parent = tree.Find({.parent = outer, .name = 3}), .name = 4});
  const uint32_t elsewhere = tree.Find({.parent = 0, .name = 5});
  EXPECT_EQ(tree.CommonOf(one, other), outer);
  EXPECT_EQ(tree.CommonOf(other, one), outer);
  EXPECT_EQ(tree.CommonOf(one, outer), outer);
  EXPECT_EQ(tree.CommonOf(one, one), one);
  EXPECT_EQ(tree.CommonOf(one, elsewhere), 0u);
}

TEST(StackTree, AFullTreeHasNoNumberForMore) {
  StackTree tree;
  ASSERT_TRUE(tree.Create());
  uint32_t last = 0;
  for (uint32_t line = 1; line < StackTree::kMostStacks; ++line) {
    last = tree.Find({.parent = 0, .line = line});
  }
  EXPECT_EQ(last, StackTree::kMostStacks - 1);
  EXPECT_EQ(tree.Find({.parent = 0, .line = StackTree::kMostStacks}), 0u);
  EXPECT_EQ(tree.Find({.parent = 0, .line = 1}), StackTree::kFirst);
}

TEST(StackTree, MessagesHoldAllStacksInTheirOrder) {
  StackTree tree;
  ASSERT_TRUE(tree.Create());
  constexpr uint32_t kStacks = 10000;
  uint32_t parent = 0;
  for (uint32_t i = 1; i <= kStacks; ++i) {
    parent = tree.Find({.parent = parent,
                        .name = i % 7,
                        .file = 0,
                        .module_class = i % 2,
                        .line = i,
                        .kind = i % 3,
                        .flags = i % 5 == 0});
  }
  std::vector<uint8_t> memory(4 << 20);
  uint32_t next = StackTree::kFirst;
  while (next < tree.size()) {
    ByteBuffer buffer(memory.data(), static_cast<uint32_t>(memory.size()));
    const uint32_t first = next;
    next = tree.Write(first, &buffer);
    ASSERT_FALSE(buffer.overflowed());
    Stacks message;
    ASSERT_TRUE(message.ParseFromArray(buffer.data(), static_cast<int>(buffer.size())));
    EXPECT_EQ(message.first(), first);
    ASSERT_EQ(message.parent_size(), static_cast<int>(next - first));
    for (uint32_t i = first; i < next; ++i) {
      const int at = static_cast<int>(i - first);
      EXPECT_EQ(message.parent(at), i - 1);
      EXPECT_EQ(message.name(at), i % 7);
      EXPECT_EQ(message.module_class(at), i % 2);
      EXPECT_EQ(message.line(at), i);
      EXPECT_EQ(message.kind(at), i % 3);
      EXPECT_EQ(message.flags(at), i % 5 == 0);
    }
  }
  EXPECT_EQ(next, kStacks + 1);
}

}  // namespace
}  // namespace utlz::agent
