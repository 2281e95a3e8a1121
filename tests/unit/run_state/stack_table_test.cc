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

// Title, locations and op_name have the string identifiers 1 to 3.
class XlaStackTableTest : public StackTableTest {
 protected:
  static void AddInstruction(uint32_t parent, Stacks* message) {
    AddFunction(parent, 1, 2, 0, message);
    message->set_module_class(message->module_class_size() - 1, 3);
    message->set_kind(message->kind_size() - 1, STACK_FRAME_XLA_INSTRUCTION);
  }
  static void AddFunction(uint32_t parent, uint32_t name, uint32_t file, uint32_t line,
                          Stacks* message) {
    StackTableTest::AddFunction(parent, name, file, line, message);
    message->add_module_class(0);
    message->add_kind(STACK_FRAME_FUNCTION);
  }

  std::vector<std::string> FramesOf(uint32_t stack) const {
    std::vector<std::string> names;
    for (; stack != kNoStack; stack = table_.ParentOf(stack)) {
      const StackFrame& frame = table_.FrameOf(stack);
      names.insert(names.begin(), frame.name.empty() ? frame.module_class : frame.name);
    }
    return names;
  }

  const std::string kName = "jit(step)/transpose(jvp(Model))/head/dot";
  ProcessState process_ = Named({"Thunk:#name=" + kName + ",hlo_op=dot.1,unique_hlo_op_id=7#",
                                 "\n- /home/me/train.py:31:18[step]\n", kName, "main"});
};

TEST_F(XlaStackTableTest, AnInstructionIsSeveralFrames) {
  Stacks message;
  message.set_first(1);
  AddFunction(0, 4, 0, 88, &message);
  AddInstruction(1, &message);
  AddFunction(2, 4, 0, 89, &message);  // inside of the innermost one
  ASSERT_TRUE(table_.Add(&process_, message));
  const uint32_t stack = StackTable::Find(process_, 2);
  EXPECT_EQ(FramesOf(stack),
            (std::vector<std::string>{"main", "step", "Model", "head", "(backward)", "dot"}));
  EXPECT_EQ(table_.FrameOf(stack).kind, STACK_FRAME_XLA_INSTRUCTION);
  EXPECT_EQ(table_.FrameOf(stack).module_class, "dot.1");
  EXPECT_TRUE(table_.FrameOf(stack).of_xla);
  EXPECT_EQ(table_.ParentOf(StackTable::Find(process_, 3)), stack);
  EXPECT_FALSE(table_.FrameOf(StackTable::Find(process_, 1)).of_xla);
  // A table that was filled from this one has it as it is.
  StackTable other;
  const uint32_t copy = other.Copy(table_, stack);
  EXPECT_TRUE(other.FrameOf(copy).of_xla);
  EXPECT_EQ(other.FrameOf(other.ParentOf(copy)).kind, STACK_FRAME_BACKWARD);
  EXPECT_EQ(other.frames().size(), 6u);
}

TEST_F(XlaStackTableTest, LongTextsAreReadBeforeTheyAreCut) {
  const std::string path = "/" + std::string(3000, 'x') + "/train.py";
  process_.strings[1] =
      "Thunk:#name=" + kName + std::string(3000, 'x') + ",hlo_op=dot.1,unique_hlo_op_id=7#";
  process_.strings[2] = "\n- " + path + ":31:18[step]\n";
  process_.strings[3] = "jit(step)/Model/" + std::string(3000, 'y') + "/dot";
  Stacks message;
  message.set_first(1);
  AddInstruction(0, &message);
  ASSERT_TRUE(table_.Add(&process_, message));
  const uint32_t stack = StackTable::Find(process_, 1);
  EXPECT_EQ(table_.FrameOf(stack).name, "dot");
  EXPECT_EQ(table_.FrameOf(stack).module_class, "dot.1");
  const StackFrame& module = table_.FrameOf(table_.ParentOf(stack));
  EXPECT_EQ(module.name, std::string(StackTable::kMaxTextBytes, 'y'));
  const uint32_t step = table_.ParentOf(table_.ParentOf(table_.ParentOf(stack)));
  EXPECT_EQ(table_.FrameOf(step).file, path.substr(path.size() - StackTable::kMaxTextBytes));
  EXPECT_EQ(table_.FrameOf(step).line, 31u);
}

TEST_F(XlaStackTableTest, ADeepStackHasRoomForTheInnermostFrames) {
  Stacks message;
  message.set_first(1);
  for (uint32_t i = 0; i < StackTable::kMaxDepth - 4; ++i) AddFunction(i, 4, 0, 0, &message);
  AddInstruction(StackTable::kMaxDepth - 4, &message);
  ASSERT_TRUE(table_.Add(&process_, message));
  const uint32_t stack = StackTable::Find(process_, StackTable::kMaxDepth - 3);
  ASSERT_NE(stack, kNoStack);
  const std::vector<std::string> frames = FramesOf(stack);
  EXPECT_EQ(frames.size(), size_t{StackTable::kMaxDepth});
  EXPECT_EQ(frames[frames.size() - 4], "Model") << "without step";
  EXPECT_EQ(frames.back(), "dot");
}

TEST_F(XlaStackTableTest, TextsOfAMessageAreBounded) {
  process_.strings[2].resize(16u << 10);
  Stacks message;
  message.set_first(1);
  for (int i = 0; i < StackTable::kMaxStacksPerMessage; ++i) AddInstruction(0, &message);
  ASSERT_TRUE(table_.Add(&process_, message));
  EXPECT_NE(StackTable::Find(process_, 1), kNoStack);
  EXPECT_EQ(StackTable::Find(process_, StackTable::kMaxStacksPerMessage), kNoStack);
  EXPECT_GT(table_.left_out(), 0u);
  EXPECT_LT(table_.left_out(), uint64_t{StackTable::kMaxStacksPerMessage});
}

TEST_F(XlaStackTableTest, WithoutRoomAnInstructionHasNoStack) {
  Stacks message;
  message.set_first(1);
  for (uint32_t i = 0; i < StackTable::kMaxDepth; ++i) AddFunction(i, 4, 0, 0, &message);
  AddInstruction(StackTable::kMaxDepth, &message);
  ASSERT_TRUE(table_.Add(&process_, message));
  EXPECT_EQ(StackTable::Find(process_, StackTable::kMaxDepth + 1), kNoStack);
  EXPECT_EQ(table_.left_out(), 1u);
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
