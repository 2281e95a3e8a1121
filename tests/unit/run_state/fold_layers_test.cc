// Layers in a sequence whose first and last repetition are not quite like the others.
#include "collector/owners/fold_layers.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/unit/run_state/eager_passes.h"

namespace utlz {
namespace {

using Items = std::vector<uint32_t>;

constexpr size_t kFoldSteps = 1u << 24;

std::optional<FoldedLayers> Fold(const Items& items, size_t steps = kFoldSteps) {
  return FoldLayers(items, &steps);
}

Items Joined(const std::vector<Items>& parts) {
  Items items;
  for (const Items& part : parts) items.insert(items.end(), part.begin(), part.end());
  return items;
}

Items Times(size_t times, const Items& part) { return Joined(std::vector<Items>(times, part)); }

// Each item with a position is the pattern's there, and the others are of the first or last part.
void ExpectSound(const FoldedLayers& folded, const Items& items) {
  ASSERT_LE(folded.end(), items.size());
  for (size_t i = 0; i < folded.positions.size(); ++i) {
    const uint32_t position = folded.positions[i];
    if (position == kNoPosition) continue;
    ASSERT_LT(position, folded.pattern.size());
    EXPECT_EQ(folded.pattern[position], items[folded.begin + i]) << i;
  }
  EXPECT_NE(folded.positions.front(), kNoPosition);
  EXPECT_NE(folded.positions.back(), kNoPosition);
}

TEST(FoldLayersTest, EqualRepetitionsAreThePart) {
  const Items items = Joined({{90, 91}, Times(5, {1, 2, 3}), {92}});
  const auto folded = Fold(items);
  ASSERT_TRUE(folded.has_value());
  EXPECT_EQ(folded->begin, 2u);
  EXPECT_EQ(folded->times, 5u);
  EXPECT_EQ(folded->pattern, (Items{1, 2, 3}));
  EXPECT_EQ(folded->positions, Times(5, {0, 1, 2}));
}

TEST(FoldLayersTest, TheFirstMayHaveAnotherItem) {
  // As a model's first norm, which is fused with the sum of embeddings.
  const Items items = Joined({{90, 91}, {1, 2, 3, 99, 5, 6}, Times(11, {1, 2, 3, 4, 5, 6}), {92}});
  const auto folded = Fold(items);
  ASSERT_TRUE(folded.has_value());
  ExpectSound(*folded, items);
  EXPECT_EQ(folded->times, 12u);
  EXPECT_EQ(folded->begin, 2u);
  ASSERT_EQ(folded->end(), items.size() - 1);
  EXPECT_EQ(folded->positions[3], kNoPosition);
}

TEST(FoldLayersTest, TheFirstMayLackAnItem) {
  const Items items = Joined({{90, 91}, {2, 3, 4, 5, 6}, Times(3, {1, 2, 3, 4, 5, 6})});
  const auto folded = Fold(items);
  ASSERT_TRUE(folded.has_value());
  ExpectSound(*folded, items);
  EXPECT_EQ(folded->times, 4u);
  EXPECT_EQ(folded->positions.size(), 23u);
}

TEST(FoldLayersTest, TheLastMayHaveOneMore) {
  const Items items =
      Joined({{90}, Times(4, {1, 2, 3, 4, 5, 6, 7, 8}), {1, 2, 3, 99, 4, 5, 6, 7, 8}, {91, 92}});
  const auto folded = Fold(items);
  ASSERT_TRUE(folded.has_value());
  ExpectSound(*folded, items);
  EXPECT_EQ(folded->times, 5u);
  EXPECT_EQ(folded->end(), items.size() - 2);
}

TEST(FoldLayersTest, WhereTheyBeginIsWhereMostAreWhole) {
  // Begun at 3, there would be four whole ones and halves at both ends.
  const Items items = Joined({{90, 91, 92}, {9, 2, 3, 4}, Times(4, {1, 2, 3, 4})});
  const auto folded = Fold(items);
  ASSERT_TRUE(folded.has_value());
  ExpectSound(*folded, items);
  EXPECT_EQ(folded->times, 5u);
  EXPECT_EQ(folded->begin, 4u);
}

TEST(FoldLayersTest, LessThanThreeQuartersIsNoRepetition) {
  const Items items = Joined({{1, 2, 98, 99}, Times(4, {1, 2, 3, 4}), {1, 97}});
  const auto folded = Fold(items);
  ASSERT_TRUE(folded.has_value());
  EXPECT_EQ(folded->times, 4u);
}

TEST(FoldLayersTest, NothingRepeats) {
  EXPECT_FALSE(Fold({}).has_value());
  EXPECT_FALSE(Fold({1, 2, 3, 4, 5, 6, 7}).has_value());
  EXPECT_FALSE(Fold(Times(2, {1, 2, 3})).has_value());
}

TEST(FoldLayersTest, RandomModels) {
  int folds = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const uint32_t layers = 4 + Below(&random, 40);
    Items items = KernelsOf(MakePass(&random, layers));
    for (uint32_t i = Below(&random, 4); i > 0; --i) items[random() % items.size()] = 999;
    const auto folded = Fold(items);
    if (!folded.has_value()) continue;
    ++folds;
    ExpectSound(*folded, items);
    EXPECT_GE(folded->times, 3u);
  }
  EXPECT_GT(folds, 200);
}

TEST(FoldLayersTest, WorkIsBounded) {
  Items layer;
  for (uint32_t i = 0; i < 1000; ++i) layer.push_back(i);
  const Items items = Joined({Items(layer.begin() + 1, layer.end()), Times(4, layer)});
  size_t steps = kFoldSteps;
  const auto folded = FoldLayers(items, &steps);
  ASSERT_TRUE(folded.has_value());
  EXPECT_LT(steps, kFoldSteps);
  EXPECT_FALSE(Fold(items, 100 * items.size()).has_value());
}

}  // namespace
}  // namespace utlz
