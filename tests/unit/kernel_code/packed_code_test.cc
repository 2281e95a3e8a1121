#include "collector/kernel_code/packed_code.h"

#include <random>

#include "collector/kernel_code/kernel_code_table.h"
#include "gtest/gtest.h"

namespace utlz {
namespace {

InstructionCounts Counts(uint32_t first) {
  return {.all = first + 9,
          .fma = first,
          .fp32 = first + 1,
          .alu = first + 2,
          .xu = first + 3,
          .lsu = first + 4,
          .any_pipe = first + 5,
          .fp32_flops = first + 6,
          .half_flops = first + 7,
          .unknown = first + 8};
}

KernelCode SomeCode() {
  KernelCode code{.compute_capability = 90, .blocks = {}};
  CodeBlock first;
  first.always = Counts(1);
  first.choices = {{.held = Counts(20), .not_held = Counts(40), .way_out = WayOut::kFirstIfNot}};
  first.successors = {1, kThreadEnds};
  CodeBlock second;
  second.always = Counts(60);
  second.successors = {kThreadEnds};
  second.callee = 0;
  second.joined_since = {0, 1};
  code.blocks = {first, second};
  return code;
}

TEST(PackedCodeTest, ComesBackAsItWas) {
  const KernelCode code = SomeCode();
  EXPECT_EQ(UnpackCode(90, PackCode(code)), code);
}

TEST(PackedCodeTest, CutOffOrLongerWordsAreRefused) {
  std::vector<uint32_t> words = PackCode(SomeCode());
  for (size_t size = 0; size < words.size(); ++size) {
    EXPECT_FALSE(UnpackCode(90, std::span(words).first(size)).has_value()) << size;
  }
  words.push_back(0);
  EXPECT_FALSE(UnpackCode(90, words).has_value());
}

TEST(PackedCodeTest, AnotherLayoutIsRefused) {
  std::vector<uint32_t> words = PackCode(SomeCode());
  ++words.front();
  EXPECT_FALSE(UnpackCode(90, words).has_value());
}

TEST(PackedCodeTest, TakesNoMoreMemoryThanTheWords) {
  std::vector<uint32_t> words = {1, 0xffffffff, 0, 0};
  EXPECT_FALSE(UnpackCode(90, words).has_value());
  KernelCode code;
  code.blocks.resize(kMostCodeBlocks + 1);
  EXPECT_FALSE(UnpackCode(90, PackCode(code)).has_value());
  code.blocks.resize(2);
  code.blocks[0].choices.resize(kMostCodeChoices);
  code.blocks[1].choices.resize(1);
  EXPECT_FALSE(UnpackCode(90, PackCode(code)).has_value());
}

TEST(PackedCodeTest, AnyWordsEnd) {
  std::mt19937 random(1);
  const std::vector<uint32_t> words = PackCode(SomeCode());
  for (int i = 0; i < 10000; ++i) {
    std::vector<uint32_t> spoilt = words;
    spoilt[random() % spoilt.size()] =
        static_cast<uint32_t>(random() % 3 == 0 ? random() : random() % 100);
    UnpackCode(90, spoilt);
  }
}

TEST(KernelCodeTableTest, KeepsTheFirstOfAName) {
  KernelCodeTable table;
  const std::vector<uint32_t> words = PackCode(SomeCode());
  EXPECT_TRUE(table.Add("_Z1fv", 90, words));
  EXPECT_TRUE(table.Add("_Z1fv", 90, PackCode(KernelCode())));
  ASSERT_NE(table.Find("_Z1fv", 90), nullptr);
  EXPECT_EQ(*table.Find("_Z1fv", 90), SomeCode());
  EXPECT_EQ(table.Find("_Z1fv", 80), nullptr);
  EXPECT_EQ(table.Find("_Z1gv", 90), nullptr);
}

TEST(KernelCodeTableTest, IsBounded) {
  KernelCodeTable table;
  const std::vector<uint32_t> words = PackCode(KernelCode());
  for (size_t i = 0; i < KernelCodeTable::kMostKernels; ++i) {
    EXPECT_TRUE(table.Add(std::to_string(i), 90, words));
  }
  EXPECT_FALSE(table.Add("one more", 90, words));
}

TEST(KernelCodeTableTest, HoldsSoMuchOfLargeCode) {
  KernelCode code;
  code.blocks.resize(kMostCodeBlocks);
  const std::vector<uint32_t> words = PackCode(code);
  const size_t room = KernelCodeTable::kMostWords / words.size();
  KernelCodeTable table;
  for (size_t i = 0; i < room; ++i) ASSERT_TRUE(table.Add(std::to_string(i), 90, words));
  EXPECT_FALSE(table.Add("one more", 90, words));
}

}  // namespace
}  // namespace utlz
