#include "collector/timeline/idle_by_stack.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace utlz {
namespace {

constexpr uint64_t kStart = 1'000'000'000;

Activity Kernel(uint64_t start_ns, uint64_t end_ns, uint32_t stack) {
  return {.start_ns = kStart + start_ns,
          .end_ns = kStart + end_ns,
          .kernel = 1,
          .stream = 0,
          .context = 0,
          .source = 1,
          .kind = ActivityKind::kCompute,
          .stack = stack};
}

std::map<std::pair<uint32_t, uint32_t>, uint64_t> ShortOf(const IdleByStack& idle) {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> sums;
  idle.ForEachShort([&](uint32_t before, uint32_t after, uint64_t idle_ns) {
    sums[{before, after}] += idle_ns;
  });
  return sums;
}

TEST(IdleByStack, ChargesAGapToWhatFollowsIt) {
  IdleByStack idle;
  idle.Add(Kernel(0, 100, 1));
  idle.Add(Kernel(150, 200, 2));
  idle.Add(Kernel(170, 400, 3));  // beside the one before
  idle.Add(Kernel(410, 500, 2));
  idle.Add(Kernel(560, 600, 2));
  using Sums = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;
  EXPECT_EQ(ShortOf(idle), (Sums{{{1, 2}, 50}, {{3, 2}, 10}, {{2, 2}, 60}}));
  EXPECT_TRUE(idle.long_gaps().empty());
}

TEST(IdleByStack, TellsLongGapsOneByOne) {
  IdleByStack idle;
  idle.Add(Kernel(0, 100, 1));
  idle.Add(Kernel(100 + IdleByStack::kLongNs, 3'000'000, 2));
  ASSERT_EQ(idle.long_gaps().size(), 1u);
  EXPECT_EQ(idle.long_gaps()[0].start_ns, kStart + 100);
  EXPECT_EQ(idle.long_gaps()[0].end_ns, kStart + 100 + IdleByStack::kLongNs);
  EXPECT_EQ(idle.long_gaps()[0].before, 1u);
  EXPECT_EQ(idle.long_gaps()[0].after, 2u);
}

TEST(IdleByStack, WhatWasNotTracedIsNoIdleTime) {
  IdleByStack idle;
  idle.Add(Kernel(0, 100, 1));
  Activity untraced = Kernel(300, 5'000'000, 0);
  untraced.kind = ActivityKind::kUntraced;
  untraced.kernel = kNoKernel;
  idle.Add(untraced);
  idle.Add(Kernel(5'000'040, 5'000'050, 1));
  using Sums = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;
  EXPECT_EQ(ShortOf(idle), (Sums{{{0, 1}, 40}}));
  EXPECT_TRUE(idle.long_gaps().empty());
}

Activity Copy(uint64_t start_ns, uint64_t end_ns, ActivityKind kind = ActivityKind::kMemset) {
  Activity copy = Kernel(start_ns, end_ns, 0);
  copy.kernel = kNoKernel;
  copy.kind = kind;
  return copy;
}

TEST(IdleByStack, AGapBeforeACopyIsOfTheKernelThatFollows) {
  IdleByStack idle;
  idle.Add(Kernel(0, 100, 1));
  idle.Add(Copy(150, 160));
  idle.Add(Copy(170, 180, ActivityKind::kDeviceToHost));
  idle.Add(Kernel(200, 300, 2));
  idle.Add(Copy(340, 350));
  using Sums = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;
  EXPECT_EQ(ShortOf(idle), (Sums{{{1, 2}, 80}, {{2, 0}, 40}})) << "none follows the last copy";
  idle.Add(Copy(5'000'000, 5'000'010));
  idle.Add(Kernel(5'000'030, 5'000'040, 3));
  EXPECT_EQ(ShortOf(idle), (Sums{{{1, 2}, 80}, {{2, 3}, 60}}));
  ASSERT_EQ(idle.long_gaps().size(), 1u);
  EXPECT_EQ(idle.long_gaps()[0].after, 3u);
}

// A kernel whose stack is not known is no copy: the line that launched it is none that follows.
TEST(IdleByStack, AGapBeforeAKernelWithoutStackHasNoOwner) {
  IdleByStack idle;
  idle.Add(Kernel(0, 100, 1));
  idle.Add(Copy(150, 160));
  idle.Add(Kernel(170, 180, 0));
  idle.Add(Kernel(190, 200, 2));
  using Sums = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;
  EXPECT_EQ(ShortOf(idle), (Sums{{{1, 0}, 60}, {{0, 2}, 10}}));
}

TEST(IdleByStack, WhatWasNotTracedMayHaveFollowedACopy) {
  IdleByStack idle;
  idle.Add(Kernel(0, 100, 1));
  idle.Add(Copy(150, 160));
  Activity untraced = Copy(300, 5'000'000, ActivityKind::kUntraced);
  idle.Add(untraced);
  idle.Add(Kernel(5'000'040, 5'000'050, 2));
  using Sums = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;
  EXPECT_EQ(ShortOf(idle), (Sums{{{1, 0}, 50}, {{0, 2}, 40}}));
}

TEST(IdleByStack, KeepsNothingWithoutStacks) {
  IdleByStack idle;
  for (uint64_t i = 0; i < 100; ++i) idle.Add(Kernel(i * 10'000'000, i * 10'000'000 + 5, 0));
  EXPECT_TRUE(ShortOf(idle).empty());
  EXPECT_TRUE(idle.long_gaps().empty());
}

TEST(IdleByStack, IsBounded) {
  IdleByStack idle;
  const auto count = static_cast<uint32_t>(IdleByStack::kMostPairs + 1000);
  for (uint32_t i = 1; i <= count; ++i) idle.Add(Kernel(i * 20ull, i * 20ull + 10, i));
  const auto sums = ShortOf(idle);
  EXPECT_LE(sums.size(), IdleByStack::kMostPairs + 1);
  uint64_t all_ns = 0;
  for (const auto& entry : sums) all_ns += entry.second;
  EXPECT_EQ(all_ns, 10ull * (count - 1));
}

}  // namespace
}  // namespace utlz
