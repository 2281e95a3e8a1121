#include "collector/run/stack_table.h"

#include <gtest/gtest.h>

#include <memory>

namespace utlz {
namespace {

class StackTableTest : public ::testing::Test {
 protected:
  ProcessState Named(const std::vector<std::string>& strings) {
    ProcessState process;
    process.strings = {""};
    process.strings.insert(process.strings.end(), strings.begin(), strings.end());
    return process;
  }

  static void AddFunction(uint32_t parent, uint32_t name, uint32_t file, uint32_t line,
                          Stacks* message) {
    message->add_parent(parent);
    message->add_name(name);
    message->add_file(file);
    message->add_line(line);
  }

  StackTable table_;
};

TEST_F(StackTableTest, EqualStacksOfTwoProcessesAreOne) {
  ProcessState first = Named({"main", "train.py", "step"});
  ProcessState second = Named({"train.py", "step", "main"});
  Stacks message;
  message.set_first(1);
  AddFunction(0, 1, 2, 88, &message);
  AddFunction(1, 3, 2, 41, &message);
  ASSERT_TRUE(table_.Add(&first, message));
  Stacks other;
  other.set_first(1);
  AddFunction(0, 3, 1, 88, &other);
  AddFunction(1, 2, 1, 41, &other);
  AddFunction(1, 2, 1, 42, &other);
  ASSERT_TRUE(table_.Add(&second, other));
  const uint32_t stack = StackTable::Find(first, 2);
  EXPECT_EQ(StackTable::Find(second, 2), stack);
  EXPECT_NE(StackTable::Find(second, 3), stack);
  EXPECT_EQ(table_.FrameOf(stack).name, "step");
  EXPECT_EQ(table_.FrameOf(stack).line, 41u);
  EXPECT_EQ(table_.FrameOf(table_.ParentOf(stack)).file, "train.py");
  EXPECT_EQ(table_.ParentOf(table_.ParentOf(stack)), kNoStack);
}

TEST_F(StackTableTest, StacksOfAnotherTableAreCopied) {
  ProcessState process = Named({"main", "train.py", "step", "other"});
  Stacks message;
  message.set_first(1);
  AddFunction(0, 1, 2, 88, &message);
  AddFunction(1, 3, 2, 41, &message);
  ASSERT_TRUE(table_.Add(&process, message));
  StackTable other;
  Stacks shifted;
  shifted.set_first(1);
  AddFunction(0, 4, 2, 1, &shifted);
  ProcessState second = Named({"main", "train.py", "step", "other"});
  ASSERT_TRUE(other.Add(&second, shifted));
  const uint32_t copy = other.Copy(table_, StackTable::Find(process, 2));
  ASSERT_NE(copy, kNoStack);
  EXPECT_EQ(other.FrameOf(copy).name, "step");
  EXPECT_EQ(other.FrameOf(copy).line, 41u);
  EXPECT_EQ(other.FrameOf(other.ParentOf(copy)).name, "main");
  EXPECT_EQ(other.ParentOf(other.ParentOf(copy)), kNoStack);
  EXPECT_EQ(other.Copy(table_, StackTable::Find(process, 2)), copy) << "once";
  EXPECT_EQ(other.Copy(table_, kNoStack), kNoStack);
}

TEST_F(StackTableTest, WhatIsNotKnownIsNoStack) {
  ProcessState process = Named({"f"});
  EXPECT_EQ(StackTable::Find(process, 0), kNoStack);
  EXPECT_EQ(StackTable::Find(process, UINT32_MAX), kNoStack);
  Stacks message;
  message.set_first(5);  // those before it were lost
  message.add_parent(0);
  message.add_parent(3);
  ASSERT_TRUE(table_.Add(&process, message));
  EXPECT_NE(StackTable::Find(process, 5), kNoStack);
  EXPECT_EQ(StackTable::Find(process, 3), kNoStack);
  EXPECT_EQ(StackTable::Find(process, 6), kNoStack) << "its outer frames are not known";
  EXPECT_EQ(table_.left_out(), 1u);
}

TEST_F(StackTableTest, RefusesWhatBreaksTheRules) {
  ProcessState process = Named({"f"});
  Stacks message;
  message.add_parent(0);
  EXPECT_FALSE(table_.Add(&process, message)) << "identifier 0 is no stack";
  message.set_first(1);
  message.set_parent(0, 1);
  EXPECT_FALSE(table_.Add(&process, message)) << "a stack in itself";
  message.set_parent(0, 0);
  message.add_line(1);
  message.add_line(2);
  EXPECT_FALSE(table_.Add(&process, message)) << "columns of two lengths";
  message.clear_line();
  message.set_first(StackTable::kMaxStackIds);
  EXPECT_FALSE(table_.Add(&process, message));
  message.set_first(100'000);
  EXPECT_FALSE(table_.Add(&process, message)) << "identifiers count up";
  EXPECT_TRUE(table_.empty());
}

TEST_F(StackTableTest, TooDeepAStackIsNone) {
  ProcessState process = Named({"f"});
  Stacks message;
  message.set_first(1);
  for (uint32_t i = 0; i < StackTable::kMaxDepth + 2; ++i) message.add_parent(i);
  ASSERT_TRUE(table_.Add(&process, message));
  EXPECT_NE(StackTable::Find(process, StackTable::kMaxDepth), kNoStack);
  EXPECT_EQ(StackTable::Find(process, StackTable::kMaxDepth + 1), kNoStack);
  EXPECT_EQ(StackTable::Find(process, StackTable::kMaxDepth + 2), kNoStack);
}

TEST_F(StackTableTest, LongTextsAreCutBetweenCharacters) {
  const std::string letters(StackTable::kMaxTextBytes - 1, 'x');
  ProcessState process = Named({letters + "\xc3\xa4", "\xc3\xa4" + letters});
  Stacks message;
  message.set_first(1);
  AddFunction(0, 1, 2, 1, &message);
  ASSERT_TRUE(table_.Add(&process, message));
  const StackFrame& frame = table_.FrameOf(StackTable::Find(process, 1));
  EXPECT_EQ(frame.name, letters);
  EXPECT_EQ(frame.file, letters);
}

TEST_F(StackTableTest, WithoutMemoryThereAreNoStacks) {
  const auto memory = std::make_shared<MemoryBudget>(300);
  StackTable table(memory);
  ProcessState process = Named({std::string(500, 'x')});
  Stacks message;
  message.set_first(1);
  AddFunction(0, 1, 1, 1, &message);
  ASSERT_TRUE(table.Add(&process, message));
  EXPECT_EQ(StackTable::Find(process, 1), kNoStack);
  EXPECT_EQ(table.left_out(), 1u);
}

TEST_F(StackTableTest, AKindOfALaterReleaseIsAFunction) {
  ProcessState process = Named({"f"});
  Stacks message;
  message.set_first(1);
  message.add_parent(0);
  message.add_kind(4711);
  message.add_name(1);
  ASSERT_TRUE(table_.Add(&process, message));
  EXPECT_EQ(table_.FrameOf(StackTable::Find(process, 1)).kind, STACK_FRAME_FUNCTION);
}

}  // namespace
}  // namespace utlz
