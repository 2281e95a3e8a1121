#include "collector/decode/compiled_operations.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace utlz {
namespace {

class CompiledOperationsTest : public ::testing::Test {
 protected:
  bool Add(const CompiledCode& message) {
    return operations_.Add(message, [this](uint32_t id) {
      return id < strings_.size() ? std::string_view(strings_[id]) : std::string_view();
    });
  }
  static void AddLaunch(uint32_t line, uint32_t lines, uint32_t operations, CompiledCode* message) {
    message->add_line(line);
    message->add_lines(lines);
    message->add_operations(operations);
  }
  std::string At(const std::string& file, uint32_t line) const {
    const std::string* found = operations_.Find(file, line);
    return found == nullptr ? "" : *found;
  }

  std::vector<std::string> strings_ = {"", "/tmp/a.py", "aten.mul, aten.add", "aten.mm",
                                       "/tmp/b.py"};
  CompiledOperations operations_;
};

TEST_F(CompiledOperationsTest, LaunchesHaveTheOperationsOfTheirLines) {
  CompiledCode message;
  message.set_file(1);
  AddLaunch(10, 2, 2, &message);
  AddLaunch(20, 1, 3, &message);
  ASSERT_TRUE(Add(message));
  EXPECT_EQ(At("/tmp/a.py", 9), "");
  EXPECT_EQ(At("/tmp/a.py", 10), "add + mul");
  EXPECT_EQ(At("/tmp/a.py", 11), "add + mul");
  EXPECT_EQ(At("/tmp/a.py", 12), "");
  EXPECT_EQ(At("/tmp/a.py", 20), "mm");
  EXPECT_EQ(At("/tmp/a.py", UINT32_MAX), "");
  EXPECT_EQ(At("/tmp/b.py", 10), "");
}

TEST_F(CompiledOperationsTest, LaunchesOfAFileAreInItsOrder) {
  CompiledCode message;
  message.set_file(1);
  AddLaunch(10, 2, 3, &message);
  AddLaunch(20, 1, 2, &message);
  AddLaunch(30, 1, 0, &message);  // of no operation that is known
  AddLaunch(40, 1, 3, &message);
  ASSERT_TRUE(Add(message));
  EXPECT_EQ(operations_.LaunchesOf("/tmp/b.py"), nullptr);
  const auto* launches = operations_.LaunchesOf("/tmp/a.py");
  ASSERT_NE(launches, nullptr);
  ASSERT_EQ(launches->size(), 3u);
  EXPECT_EQ((*launches)[0].line, 10u);
  EXPECT_EQ((*launches)[0].end, 12u);
  EXPECT_EQ(operations_.TextOf((*launches)[1]), "add + mul");
  EXPECT_EQ((*launches)[0].text, (*launches)[2].text);
}

TEST_F(CompiledOperationsTest, WhatCameFirstOfAFileStays) {
  CompiledCode message;
  message.set_file(1);
  AddLaunch(10, 1, 3, &message);
  ASSERT_TRUE(Add(message));
  message.set_operations(0, 2);
  ASSERT_TRUE(Add(message));
  EXPECT_EQ(At("/tmp/a.py", 10), "mm");
}

TEST_F(CompiledOperationsTest, WhatBreaksARuleIsRefusedWhole) {
  CompiledCode message;
  message.set_file(1);
  AddLaunch(10, 5, 2, &message);
  AddLaunch(14, 1, 3, &message);
  EXPECT_FALSE(Add(message)) << "two launches in one line";
  message.set_line(1, 15);
  message.add_lines(1);
  EXPECT_FALSE(Add(message)) << "a column of another length";
  message.mutable_lines()->RemoveLast();
  message.set_lines(1, UINT32_MAX);
  EXPECT_FALSE(Add(message)) << "beyond all lines";
  message.set_lines(1, 1);
  message.set_line(0, 0);
  EXPECT_FALSE(Add(message)) << "no line";
  EXPECT_TRUE(operations_.empty());
  CompiledCode many;
  many.set_file(1);
  for (int i = 0; i <= CompiledOperations::kMaxLaunchesPerMessage; ++i) many.add_line(1 + i);
  EXPECT_FALSE(Add(many));
  EXPECT_TRUE(operations_.empty());
}

TEST_F(CompiledOperationsTest, UnknownStringsSayNothing) {
  CompiledCode message;
  message.set_file(99);
  AddLaunch(10, 1, 2, &message);
  ASSERT_TRUE(Add(message));
  EXPECT_TRUE(operations_.empty());
  message.set_file(1);
  message.set_operations(0, 99);
  ASSERT_TRUE(Add(message));
  EXPECT_EQ(At("/tmp/a.py", 10), "");
}

TEST_F(CompiledOperationsTest, MemoryIsBounded) {
  strings_.resize(5);
  for (size_t i = 0; i < CompiledOperations::kMaxTexts + 10; ++i) {
    strings_.push_back("aten.op" + std::to_string(i));
  }
  CompiledCode message;
  for (int i = 0; i < CompiledOperations::kMaxLaunchesPerMessage; ++i) {
    AddLaunch(1 + static_cast<uint32_t>(i), 1, 5 + static_cast<uint32_t>(i), &message);
  }
  for (size_t i = 0; i < CompiledOperations::kMaxFiles + 10; ++i) {
    strings_[1] = "/tmp/" + std::to_string(i);
    message.set_file(1);
    ASSERT_TRUE(Add(message));
    if (i == 20) message.Clear();
  }
  EXPECT_EQ(At("/tmp/0", 1), "op0");
  EXPECT_EQ(At("/tmp/15", 1), "op0");
  EXPECT_EQ(At("/tmp/16", 1), "") << "a quarter of a million launches are enough";
}

TEST(CompiledOperationsTextTest, ListsAreShownWithoutTheLibraryAndViews) {
  EXPECT_EQ(CompiledOperationsText("aten.view, aten.t, aten.mm"), "mm");
  EXPECT_EQ(CompiledOperationsText("aten.view, aten.t"), "t + view") << "nothing else is there";
  EXPECT_EQ(CompiledOperationsText("aten.native_layer_norm, aten.add, aten.add"),
            "add + native_layer_norm");
  EXPECT_EQ(CompiledOperationsText("prims.iota, mine.fused"), "mine.fused + prims.iota");
  EXPECT_EQ(CompiledOperationsText(""), "");
}

TEST(CompiledOperationsTextTest, WordsThatAreNoNamesAreLeftOut) {
  EXPECT_EQ(CompiledOperationsText("aten.add, <script>, aten.\x1b[31m, \xff, aten."), "add");
  EXPECT_EQ(CompiledOperationsText("], Original ATen: ["), "");
}

TEST(CompiledOperationsTextTest, LongListsAreCut) {
  std::string list;
  for (int i = 0; i < 100; ++i)
    list += (i == 0 ? "" : ", ") + ("aten.operation" + std::to_string(i));
  const std::string text = CompiledOperationsText(list);
  EXPECT_LE(text.size(), CompiledOperations::kMaxShownBytes);
  EXPECT_TRUE(text.ends_with(" + …"));
}

}  // namespace
}  // namespace utlz
