#include "collector/timeline/idle_by_stack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace utlz {
namespace {

constexpr uint64_t kStart = 1'000'000'000;

Activity KernelOfStack(uint64_t start_ns, uint64_t end_ns, uint32_t stack) {
  return {.start_ns = kStart + start_ns,
          .end_ns = kStart + end_ns,
          .kernel = 1,
          .stream = 0,
          .context = 0,
          .source = 1,
          .kind = ActivityKind::kCompute,
          .stack = stack};
}

std::map<std::pair<uint32_t, uint32_t>, uint64_t> SumsOf(const IdleByStack& idle) {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> sums;
  idle.ForEach([&](const StackGap& gap) { sums[{gap.before, gap.after}] += gap.idle_ns; });
  return sums;
}

std::vector<StackGap> GapsOf(const IdleByStack& idle) {
  std::vector<StackGap> gaps;
  idle.ForEach([&](const StackGap& gap) { gaps.push_back(gap); });
  return gaps;
}

TEST(IdleByStack, ChargesAGapToWhatFollowsIt) {
  IdleByStack idle;
  idle.Add(KernelOfStack(0, 100, 1));
  idle.Add(KernelOfStack(150, 200, 2));
  idle.Add(KernelOfStack(170, 400, 3));  // beside the one before
  idle.Add(KernelOfStack(410, 500, 2));
  idle.Add(KernelOfStack(560, 600, 2));
  using Sums = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;
  EXPECT_EQ(SumsOf(idle), (Sums{{{1, 2}, 50}, {{3, 2}, 10}, {{2, 2}, 60}}));
}

TEST(IdleByStack, TellsGapsOneByOne) {
  IdleByStack idle;
  idle.Add(KernelOfStack(0, 100, 1));
  idle.Add(KernelOfStack(130, 200, 2));
  idle.Add(KernelOfStack(200 + IdleByStack::kLongNs, 3'000'000, 3));
  const std::vector<StackGap> gaps = GapsOf(idle);
  ASSERT_EQ(gaps.size(), 2u) << "long ones first";
  EXPECT_EQ(gaps[0].start_ns, kStart + 200);
  EXPECT_EQ(gaps[0].end_ns, kStart + 200 + IdleByStack::kLongNs);
  EXPECT_EQ(gaps[0].before, 2u);
  EXPECT_EQ(gaps[0].after, 3u);
  EXPECT_EQ(gaps[1].start_ns, kStart + 100);
  EXPECT_EQ(gaps[1].end_ns, kStart + 130);
  EXPECT_TRUE(gaps[0].IsOne());
  EXPECT_TRUE(gaps[1].IsOne());
}

TEST(IdleByStack, WhatWasNotTracedIsNoIdleTime) {
  IdleByStack idle;
  idle.Add(KernelOfStack(0, 100, 1));
  Activity untraced = KernelOfStack(300, 5'000'000, 0);
  untraced.kind = ActivityKind::kUntraced;
  untraced.kernel = kNoKernel;
  idle.Add(untraced);
  idle.Add(KernelOfStack(5'000'040, 5'000'050, 1));
  using Sums = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;
  EXPECT_EQ(SumsOf(idle), (Sums{{{0, 1}, 40}}));
}

Activity CopyOrMemset(uint64_t start_ns, uint64_t end_ns,
                      ActivityKind kind = ActivityKind::kMemset) {
  Activity copy = KernelOfStack(start_ns, end_ns, 0);
  copy.kernel = kNoKernel;
  copy.kind = kind;
  return copy;
}

TEST(IdleByStack, AGapBeforeACopyIsOfTheKernelThatFollows) {
  IdleByStack idle;
  idle.Add(KernelOfStack(0, 100, 1));
  idle.Add(CopyOrMemset(150, 160));
  idle.Add(CopyOrMemset(170, 180, ActivityKind::kDeviceToHost));
  idle.Add(KernelOfStack(200, 300, 2));
  idle.Add(CopyOrMemset(340, 350));
  using Sums = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;
  EXPECT_EQ(SumsOf(idle), (Sums{{{1, 2}, 80}, {{2, 0}, 40}})) << "none follows the last copy";
  idle.Add(CopyOrMemset(5'000'000, 5'000'010));
  idle.Add(KernelOfStack(5'000'030, 5'000'040, 3));
  EXPECT_EQ(SumsOf(idle), (Sums{{{1, 2}, 80}, {{2, 3}, 60 + 4'999'650}}));
}

// A kernel whose stack is not known is no copy: the line that launched it is none that follows.
TEST(IdleByStack, AGapBeforeAKernelWithoutStackHasNoOwner) {
  IdleByStack idle;
  idle.Add(KernelOfStack(0, 100, 1));
  idle.Add(CopyOrMemset(150, 160));
  idle.Add(KernelOfStack(170, 180, 0));
  idle.Add(KernelOfStack(190, 200, 2));
  using Sums = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;
  EXPECT_EQ(SumsOf(idle), (Sums{{{1, 0}, 60}, {{0, 2}, 10}}));
}

TEST(IdleByStack, WhatWasNotTracedMayHaveFollowedACopy) {
  IdleByStack idle;
  idle.Add(KernelOfStack(0, 100, 1));
  idle.Add(CopyOrMemset(150, 160));
  Activity untraced = CopyOrMemset(300, 5'000'000, ActivityKind::kUntraced);
  idle.Add(untraced);
  idle.Add(KernelOfStack(5'000'040, 5'000'050, 2));
  using Sums = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;
  EXPECT_EQ(SumsOf(idle), (Sums{{{1, 0}, 50}, {{0, 2}, 40}}));
}

TEST(IdleByStack, KeepsNothingWithoutStacks) {
  IdleByStack idle;
  for (uint64_t i = 0; i < 100; ++i) idle.Add(KernelOfStack(i * 10'000'000, i * 10'000'000 + 5, 0));
  EXPECT_TRUE(SumsOf(idle).empty());
}

// What many gaps have, by the half of the run in which they are.
TEST(IdleByStack, JoinsGapsThatAreNearWhereThereAreMany) {
  IdleByStack idle;
  constexpr uint64_t kCount = 3 * IdleByStack::kMostShort;
  // Gaps before stack 1 are of 10 ns, then of 30; those before stack 2 of 20.
  for (uint64_t i = 0; i < kCount; ++i) {
    const uint64_t wait_ns = i % 2 == 1 ? 20 : i < kCount / 2 ? 10 : 30;
    idle.Add(KernelOfStack(i * 10'000 + wait_ns, i * 10'000 + 10'000, i % 2 == 1 ? 2 : 1));
  }
  const std::vector<StackGap> gaps = GapsOf(idle);
  EXPECT_LE(gaps.size(), IdleByStack::kMostShort);
  const uint64_t half_ns = kStart + kCount / 2 * 10'000;
  uint64_t sums_ns[2][3] = {};
  for (const StackGap& gap : gaps) {
    EXPECT_LE(gap.end_ns - gap.start_ns, 100 * IdleByStack::kLongNs);
    sums_ns[gap.start_ns < half_ns ? 0 : 1][gap.after] += gap.idle_ns;
  }
  constexpr uint64_t kQuarter = kCount / 4;
  EXPECT_NEAR(static_cast<double>(sums_ns[0][1]), 10.0 * kQuarter, 0.01 * kQuarter);
  EXPECT_NEAR(static_cast<double>(sums_ns[1][1]), 30.0 * kQuarter, 0.01 * kQuarter);
  EXPECT_EQ(sums_ns[0][2] + sums_ns[1][2], 20 * 2 * kQuarter);
}

TEST(IdleByStack, IsBounded) {
  IdleByStack idle;
  constexpr uint64_t kCount = 2 * IdleByStack::kMostShort;
  for (uint64_t i = 1; i <= kCount; ++i) {
    idle.Add(KernelOfStack(i * 20, i * 20 + 10, static_cast<uint32_t>(i)));
  }
  const std::vector<StackGap> gaps = GapsOf(idle);
  EXPECT_LE(gaps.size(), IdleByStack::kMostShort);
  uint64_t all_ns = 0;
  for (const StackGap& gap : gaps) all_ns += gap.idle_ns;
  EXPECT_EQ(all_ns, 10 * (kCount - 1));
}

// Time that a hostile program tells: the slices become as long as time itself.
TEST(IdleByStack, IsBoundedWhateverTimeIs) {
  IdleByStack idle;
  constexpr uint64_t kCount = 2 * IdleByStack::kMostShort;
  constexpr uint64_t kApartNs = UINT64_MAX / (kCount + 2);
  for (uint64_t i = 1; i <= kCount; ++i) {
    Activity kernel = KernelOfStack(0, 0, static_cast<uint32_t>(i));
    kernel.start_ns = i * kApartNs;
    kernel.end_ns = (i + 1) * kApartNs - 10;
    idle.Add(kernel);
  }
  EXPECT_LE(GapsOf(idle).size(), IdleByStack::kMostShort);
}

}  // namespace
}  // namespace utlz
