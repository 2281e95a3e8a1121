// The layers of a model in the sequence of its kernels.
#include "collector/owners/repeated_part.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/run_state/eager_passes.h"

namespace utlz {
namespace {

constexpr size_t kFindSteps = 1u << 24;

std::optional<RepeatedPart> Find(const std::vector<uint32_t>& items, size_t steps = kFindSteps) {
  return FindRepeatedPart(items, &steps);
}

TEST(RepeatedPartTest, LayersBetweenPrologueAndEpilogue) {
  const auto part = Find({9, 8, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 7});
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->begin, 2u);
  EXPECT_EQ(part->period, 3u);
  EXPECT_EQ(part->times, 4u);
}

TEST(RepeatedPartTest, RandomModels) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const uint32_t layers = 4 + Below(&random, 40);
    const std::vector<uint32_t> kernels = KernelsOf(MakePass(&random, layers));
    const auto part = Find(kernels);
    ASSERT_TRUE(part.has_value()) << seed;
    EXPECT_EQ(part->times % layers, 0u) << seed << ": or a layer that repeats in itself";
    for (size_t i = 0; i + part->period < part->period * part->times; ++i) {
      ASSERT_EQ(kernels[part->begin + i], kernels[part->begin + i + part->period]) << seed;
    }
  }
}

TEST(RepeatedPartTest, NothingRepeats) {
  std::vector<uint32_t> items;
  for (uint32_t i = 0; i < 100; ++i) items.push_back(i);
  EXPECT_FALSE(Find(items).has_value());
  EXPECT_FALSE(Find({}).has_value());
  EXPECT_FALSE(Find({1, 2, 1, 2}).has_value()) << "twice is no sign of layers";
  EXPECT_FALSE(Find(std::vector<uint32_t>(100, 5)).has_value()) << "one kernel again and again";
}

TEST(RepeatedPartTest, WhatIsLessThanHalfSaysNothing) {
  std::vector<uint32_t> items = {1, 2, 1, 2, 1, 2};
  EXPECT_TRUE(Find(items).has_value());
  for (uint32_t i = 0; i < 7; ++i) items.push_back(100 + i);
  EXPECT_FALSE(Find(items).has_value());
}

TEST(RepeatedPartTest, WorkIsBounded) {
  std::vector<uint32_t> items;
  for (uint32_t layer = 0; layer < 4; ++layer) {
    for (uint32_t i = 0; i < 1000; ++i) items.push_back(i);
  }
  EXPECT_TRUE(Find(items).has_value());
  EXPECT_FALSE(Find(items, 100 * items.size()).has_value()) << "periods up to 100";
}

}  // namespace
}  // namespace utlz
