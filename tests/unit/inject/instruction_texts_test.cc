#include "inject/xla/instruction_texts.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace utlz::agent {
namespace {

constexpr char kTitle[] = "Thunk:#name=jit(step)/mul,hlo_op=loop_multiply_fusion.2#";
constexpr char kInstruction[] =
    "loop_multiply_fusion.2 = f32[8]{0} fusion(p), calls=c, metadata={op_name=\"jit(step)/mul\" "
    "stack_frame_id=4}, backend_config={\"kind\":\"op_name=\\\"no\\\"\"}";
constexpr char kLines[] = "\n- /home/me/train.py:48:26[step]\n-- /home/me/train.py:44:15[loss]\n";
constexpr char kCalled[] = "\nc {\n  p = f32[8] parameter(0), metadata={op_name=\"other\"}\n}";

class InstructionTextsTest : public testing::Test {
 protected:
  InstructionTextsTest() { EXPECT_TRUE(texts_.Create()); }

  uint32_t RegisterAll(const std::vector<std::string>& registered) {
    uint32_t title = 0;
    for (const std::string& text : registered) title = texts_.Register(text.c_str(), title);
    return title;
  }

  InstructionTexts texts_;
};

TEST_F(InstructionTextsTest, TextsThatFollowATitleBelongToIt) {
  const uint32_t program =
      RegisterAll({"XlaModule:#hlo_module=jit_step,program_id=7#", "jit_step", "\n/a.py:1[f]\n"});
  const uint32_t first = RegisterAll({kTitle, kInstruction, kLines, kCalled});
  const uint32_t second = RegisterAll({"Thunk:#hlo_op=copy.1#", "copy.1 = f32[8] copy(p)", "\n"});
  EXPECT_EQ(texts_.KindOf(program), InstructionTexts::Kind::kProgram);
  EXPECT_STREQ(texts_.TextsOf(program).lines, "");
  EXPECT_EQ(texts_.KindOf(first), InstructionTexts::Kind::kInstruction);
  EXPECT_STREQ(texts_.TextsOf(first).title, kTitle);
  EXPECT_STREQ(texts_.TextsOf(first).operation, "jit(step)/mul");
  EXPECT_STREQ(texts_.TextsOf(first).lines, kLines);
  EXPECT_STREQ(texts_.TextsOf(second).title, "Thunk:#hlo_op=copy.1#");
  EXPECT_STREQ(texts_.TextsOf(second).operation, "");
  EXPECT_STREQ(texts_.TextsOf(second).lines, "");
}

TEST_F(InstructionTextsTest, ProgramsWithoutANumberAreTrials) {
  EXPECT_EQ(texts_.KindOf(RegisterAll({"XlaModule:#hlo_module=gemm_fusion_dot.4#"})),
            InstructionTexts::Kind::kTrial);
  EXPECT_EQ(texts_.KindOf(RegisterAll({"XlaModule:#prefix=jit(f),hlo_module=f,program_id=3#"})),
            InstructionTexts::Kind::kProgram);
}

TEST_F(InstructionTextsTest, TextsBeforeAnyTitleAndNullAreLeftOut) {
  EXPECT_EQ(texts_.Register(kLines, 0), 0u);
  EXPECT_EQ(texts_.Register(nullptr, 0), 0u);
  EXPECT_EQ(texts_.Register(nullptr, 5), 5u);
  EXPECT_EQ(texts_.size(), 1u);
}

TEST_F(InstructionTextsTest, OperationsThatDoNotEndAreNone) {
  const uint32_t title =
      RegisterAll({"Thunk:#hlo_op=a#", "a = f32[] add(b), metadata={op_name=\"jit(step)/add"});
  EXPECT_STREQ(texts_.TextsOf(title).operation, "");
}

TEST_F(InstructionTextsTest, LongTextsAreCut) {
  const uint32_t title = RegisterAll({"Thunk:#hlo_op=" + std::string(100'000, 'x')});
  EXPECT_EQ(std::string(texts_.TextsOf(title).title).size(), InstructionTexts::kMostTextBytes);
}

TEST_F(InstructionTextsTest, HandlesLeadToTitles) {
  std::vector<int> marks(2);
  const uint32_t first = RegisterAll({kTitle});
  texts_.AddHandle(&marks[0], first);
  EXPECT_EQ(texts_.Find(&marks[0]), first);
  EXPECT_EQ(texts_.Find(&marks[1]), 0u);
  EXPECT_EQ(texts_.Find(nullptr), 0u);
  // A tool gives equal texts one handle.
  const uint32_t second = RegisterAll({kTitle});
  texts_.AddHandle(&marks[0], second);
  EXPECT_EQ(texts_.Find(&marks[0]), second);
}

TEST_F(InstructionTextsTest, WhatHasNoRoomIsNotKnown) {
  uint32_t title = 1;
  for (uint32_t i = 0; i < 20'000 && title != 0; ++i) {
    std::string text = "Thunk:#hlo_op=" + std::to_string(i);
    text.resize(8'000, 'x');
    title = texts_.Register(text.c_str(), title);
  }
  EXPECT_EQ(title, 0u) << "the arena is smaller than this";
  EXPECT_EQ(texts_.Register(kLines, title), 0u);
  EXPECT_NE(texts_.Register(kTitle, title), 0u) << "a short one still fits";
}

TEST_F(InstructionTextsTest, ThreadsRegisterAtOnce) {
  constexpr int kThreads = 4, kTitles = 2'000;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this, thread] {
      uint32_t title = 0;
      for (int i = 0; i < kTitles; ++i) {
        const std::string name = "hlo_op=" + std::to_string(thread) + "." + std::to_string(i);
        const std::string lines = "\n- /a.py:" + std::to_string(i) + "[f" + std::to_string(thread);
        title = texts_.Register(("Thunk:#" + name + "#").c_str(), title);
        EXPECT_EQ(texts_.Register(lines.c_str(), title), title);
        EXPECT_EQ(texts_.TextsOf(title).title, "Thunk:#" + name + "#");
        EXPECT_EQ(texts_.TextsOf(title).lines, lines);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(texts_.size(), 1u + kThreads * kTitles);
}

}  // namespace
}  // namespace utlz::agent
