// Sequences of kernels are found again where they are, and nowhere else.
#include "collector/owners/sequence_match.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/run_state/eager_passes.h"

namespace utlz {
namespace {

constexpr size_t kMatchSteps = 1u << 22;
constexpr uint32_t kForeign = 1'000'000;  // kernels that no pass has
constexpr int kRandomCases = 200;

class Matcher {
 public:
  explicit Matcher(const std::vector<Pass>& passes) {
    for (const Pass& pass : passes) AddPass(pass, &order_);
  }

  // Of each item the stack; 0: none. Empty: refused. Each stack is an owner.
  std::vector<uint32_t> Match(const std::vector<uint32_t>& kernels) const {
    size_t steps = kMatchSteps;
    return Match(kernels, &steps);
  }
  std::vector<uint32_t> Match(const std::vector<uint32_t>& kernels, size_t* steps) const {
    std::vector<uint32_t> labels, owners;
    for (const EagerOrder::Site& site : order_.sites()) {
      labels.push_back(site.kernel);
      owners.push_back(site.stack);
    }
    const SitePaths paths(order_, labels, owners);
    const auto sites = MatchSequence(kernels, paths, steps);
    if (!sites.has_value()) return {};
    EXPECT_EQ(sites->size(), kernels.size());
    std::vector<uint32_t> stacks;
    for (const uint32_t site : *sites) {
      stacks.push_back(site == EagerOrder::kNoSite ? 0 : order_.sites()[site].stack);
    }
    return stacks;
  }

 private:
  EagerOrder order_;
};

std::vector<uint32_t> StacksOf(const Pass& pass) {
  std::vector<uint32_t> stacks;
  for (const PlacedKernel& one : pass) stacks.push_back(one.stack);
  return stacks;
}

TEST(SequenceMatchTest, AWholePassIsFoundAgain) {
  for (int i = 0; i < kRandomCases; ++i) {
    std::mt19937 random(static_cast<uint32_t>(i));
    const Pass pass = MakePass(&random, 1 + Below(&random, 16));
    const std::vector<uint32_t> kernels = KernelsOf(pass);
    if (pass.size() < 8) continue;
    EXPECT_EQ(Matcher({pass}).Match(kernels), StacksOf(pass)) << i;
  }
}

TEST(SequenceMatchTest, EachOfSeveralPassesIsFoundAgain) {
  for (int i = 0; i < kRandomCases; ++i) {
    std::mt19937 random(static_cast<uint32_t>(i));
    std::vector<Pass> passes;
    for (uint32_t batch = 0; batch < 4; ++batch) {
      passes.push_back(MakePass(&random, 12, 1 + 10'000 * batch));
      // Another batch size has other grids: other kernels.
      for (PlacedKernel& one : passes.back()) one.kernel += 1000 * batch;
    }
    const Matcher matcher(passes);
    for (const Pass& pass : passes) EXPECT_EQ(matcher.Match(KernelsOf(pass)), StacksOf(pass)) << i;
  }
}

TEST(SequenceMatchTest, AGraphOfTwoHalvesIsFoundInPartialPasses) {
  std::mt19937 random(3);
  const Pass pass = MakePass(&random, 12);
  const auto middle = pass.begin() + static_cast<std::ptrdiff_t>(pass.size() / 2);
  EXPECT_EQ(
      Matcher({Pass(pass.begin(), middle + 1), Pass(middle, pass.end())}).Match(KernelsOf(pass)),
      StacksOf(pass))
      << "where one ends and the other begins they have a launch in common";
}

// One layer alone may be any of them, and so may a stretch of layers without begin and end.
TEST(SequenceMatchTest, APartThatMayBeSeveralIsRefused) {
  for (int i = 0; i < kRandomCases; ++i) {
    std::mt19937 random(static_cast<uint32_t>(i));
    Pass pass = MakePass(&random, 12);
    const std::vector<uint32_t> kernels = KernelsOf(pass);
    const auto first =
        std::find_if(kernels.begin(), kernels.end(), [](uint32_t one) { return one >= 200; });
    const auto last =
        std::find_if(kernels.begin(), kernels.end(), [](uint32_t one) { return one >= 300; });
    const auto layer = (last - first) / 12;
    for (const std::ptrdiff_t layers : {1, 3, 10}) {
      const std::vector<uint32_t> part(first + layer / 2, first + layer / 2 + layers * layer);
      EXPECT_TRUE(Matcher({pass}).Match(part).empty()) << i << " layers " << layers;
    }
  }
}

TEST(SequenceMatchTest, AnotherOrderIsRefused) {
  for (int i = 0; i < kRandomCases; ++i) {
    std::mt19937 random(static_cast<uint32_t>(i));
    const Pass pass = MakePass(&random, 12);
    std::vector<uint32_t> kernels = KernelsOf(pass);
    std::shuffle(kernels.begin(), kernels.end(), random);
    EXPECT_TRUE(Matcher({pass}).Match(kernels).empty()) << i;
  }
}

TEST(SequenceMatchTest, AnotherOrderWithinLayersIsRefused) {
  Pass pass;
  std::vector<uint32_t> kernels;
  for (uint32_t layer = 0; layer < 12; ++layer) {
    for (uint32_t i = 0; i < 6; ++i) {
      pass.push_back({100 + i, 1 + 6 * layer + i});
      kernels.push_back(105 - i);
    }
  }
  EXPECT_TRUE(Matcher({pass}).Match(kernels).empty());
  EXPECT_FALSE(Matcher({pass}).Match(KernelsOf(pass)).empty());
}

// At places apart from each other an item is replaced, added or left out: not at the end, where a
// sequence that is shorter by one would have no edit.
std::vector<uint32_t> Edit(const Pass& pass, std::mt19937* random, std::vector<uint32_t>* stacks) {
  constexpr size_t kApart = 30;
  std::vector<uint32_t> kernels;
  for (size_t i = 0; i < pass.size(); ++i) {
    const uint32_t foreign = kForeign + static_cast<uint32_t>(i);
    const bool is_place = i % kApart == kApart / 2 && i + 4 < pass.size();
    const uint32_t kind = is_place ? Below(random, 3) : 3;
    if (kind <= 1) {
      kernels.push_back(foreign);
      stacks->push_back(0);
    }
    if (kind == 1 || kind == 3) {
      kernels.push_back(pass[i].kernel);
      stacks->push_back(pass[i].stack);
    }
  }
  return kernels;
}

TEST(SequenceMatchTest, FewEditsLeaveTheRestWhereItIs) {
  int refused = 0;
  for (int i = 0; i < kRandomCases; ++i) {
    std::mt19937 random(static_cast<uint32_t>(i));
    const Pass pass = MakePass(&random, 12);
    std::vector<uint32_t> stacks;
    const std::vector<uint32_t> kernels = Edit(pass, &random, &stacks);
    const std::vector<uint32_t> matched = Matcher({pass}).Match(kernels);
    // Where a layer repeats one kernel, many places may fit an edit.
    refused += matched.empty() ? 1 : 0;
    if (matched.empty()) continue;
    size_t wrong = 0, missing = 0;
    for (size_t item = 0; item < kernels.size(); ++item) {
      if (matched[item] == 0 && stacks[item] != 0) ++missing;
      if (matched[item] != 0 && matched[item] != stacks[item]) ++wrong;
    }
    EXPECT_EQ(wrong, 0u) << i;
    EXPECT_LE(10 * missing, kernels.size()) << i;
  }
  EXPECT_LT(refused, kRandomCases / 10);
}

TEST(SequenceMatchTest, TooManyForeignItemsAreRefused) {
  for (int i = 0; i < kRandomCases; ++i) {
    std::mt19937 random(static_cast<uint32_t>(i));
    const Pass pass = MakePass(&random, 12);
    std::vector<uint32_t> kernels = KernelsOf(pass);
    std::vector<size_t> places(kernels.size());
    for (size_t item = 0; item < places.size(); ++item) places[item] = item;
    std::shuffle(places.begin(), places.end(), random);
    for (size_t item = 0; item <= kernels.size() / 10; ++item) {
      kernels[places[item]] = kForeign + static_cast<uint32_t>(item);
    }
    EXPECT_TRUE(Matcher({pass}).Match(kernels).empty()) << i;
  }
}

TEST(SequenceMatchTest, AnItemBetweenTwoOfOneOwnerIsTheirs) {
  EagerOrder order;
  Pass pass;
  for (uint32_t i = 0; i < 20; ++i) pass.push_back({100 + i, 1 + i});
  AddPass(pass, &order);
  std::vector<uint32_t> labels, owners;
  for (const EagerOrder::Site& site : order.sites()) {
    labels.push_back(site.kernel);
    owners.push_back(1 + (site.stack - 1) / 10);
  }
  const SitePaths paths(order, labels, owners);
  std::vector<uint32_t> kernels = KernelsOf(pass);
  kernels[5] = kForeign;       // between two of the first owner
  kernels[10] = kForeign + 1;  // between the owners
  size_t steps = kMatchSteps;
  const auto sites = MatchSequence(kernels, paths, &steps);
  ASSERT_TRUE(sites.has_value());
  EXPECT_EQ((*sites)[5], (*sites)[4]);
  EXPECT_EQ((*sites)[10], EagerOrder::kNoSite);
}

TEST(SequenceMatchTest, TwoModelsWithTheSameKernelsAreNotTold) {
  std::mt19937 random(5);
  const Pass pass = MakePass(&random, 12);
  Pass other = pass;
  for (PlacedKernel& one : other) one.stack += 10'000;
  EXPECT_TRUE(Matcher({pass, other}).Match(KernelsOf(pass)).empty());
}

TEST(SequenceMatchTest, WhatSaysLittleIsRefused) {
  const Pass pass = {{100, 1}, {100, 2}, {101, 3}, {102, 4}, {103, 5}};
  const Matcher matcher({pass});
  EXPECT_TRUE(matcher.Match({}).empty());
  EXPECT_TRUE(matcher.Match({101, 102, 103}).empty()) << "too short";
  EXPECT_TRUE(matcher.Match({100, 100, 100, 101}).empty()) << "of two kernels";
  EXPECT_EQ(matcher.Match({100, 101, 102, 103}), (std::vector<uint32_t>{2, 3, 4, 5}));
}

// Every site follows every other: the number of paths grows with each item.
TEST(SequenceMatchTest, WorkIsBounded) {
  std::mt19937 random(11);
  Pass pass;
  for (uint32_t i = 0; i < 20'000; ++i) {
    pass.push_back({Below(&random, 4), 1 + Below(&random, 400)});
  }
  const Matcher matcher({pass});
  std::vector<uint32_t> kernels;
  for (int i = 0; i < 5000; ++i) kernels.push_back(Below(&random, 4));
  size_t steps = 100'000;
  EXPECT_TRUE(matcher.Match(kernels, &steps).empty());
  EXPECT_EQ(steps, 0u) << "the steps ended it, and not that the paths do not agree";
}

// One path alone is there: it is found, or the steps do not last.
TEST(SequenceMatchTest, StepsAloneEndAnUnambiguousMatch) {
  Pass pass;
  for (uint32_t i = 0; i < 2000; ++i) pass.push_back({1 + i, 1 + i});
  const Matcher matcher({pass});
  const std::vector<uint32_t> kernels = KernelsOf(pass);
  size_t steps = kMatchSteps;
  EXPECT_EQ(matcher.Match(kernels, &steps), StacksOf(pass));
  const size_t needed = kMatchSteps - steps;
  EXPECT_GE(needed, pass.size());
  EXPECT_LE(needed, 20 * pass.size()) << "each item is looked at a few times";
  steps = needed;
  EXPECT_EQ(matcher.Match(kernels, &steps), StacksOf(pass));
  steps = needed / 2;
  EXPECT_TRUE(matcher.Match(kernels, &steps).empty());
  EXPECT_EQ(steps, 0u);
}

}  // namespace
}  // namespace utlz
