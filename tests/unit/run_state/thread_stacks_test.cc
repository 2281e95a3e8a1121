#include "collector/run/thread_stacks.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>

namespace utlz {
namespace {

constexpr uint32_t kStack = 1;

ProcessState ProcessWithAStack(uint32_t source) {
  ProcessState process;
  process.source = source;
  process.stack_by_id = {0, kStack};
  return process;
}

// `count` moments of two threads each, a millisecond apart.
ThreadStackBatch Moments(uint64_t start_ns, int count) {
  ThreadStackBatch batch;
  batch.set_base_ns(start_ns);
  for (int i = 0; i < count; ++i) {
    for (uint32_t thread = 0; thread < 2; ++thread) {
      batch.add_time_delta_ns(thread == 0 && i > 0 ? 1'000'000 : 0);
      batch.add_stack(kStack);
    }
  }
  return batch;
}

TEST(ThreadStacksTest, FindsThoseOfAProcessInATime) {
  ThreadStacks stacks;
  const ProcessState one = ProcessWithAStack(1), other = ProcessWithAStack(2);
  EXPECT_TRUE(stacks.Add(one, Moments(1000, 5)));
  EXPECT_TRUE(stacks.Add(other, Moments(1000, 1)));
  EXPECT_EQ(stacks.size(), 12u);
  int found = 0;
  stacks.ForEachIn(1, 1000, 1000 + 2'000'000, [&found](const ThreadStacks::Sample& sample) {
    EXPECT_EQ(sample.stack, kStack);
    ++found;
  });
  EXPECT_EQ(found, 4) << "the end is not part of it";
  stacks.ForEachIn(3, 0, UINT64_MAX, [](const ThreadStacks::Sample&) { FAIL(); });
}

TEST(ThreadStacksTest, LeavesOutWhatIsEarlierThanTheLast) {
  ThreadStacks stacks;
  const ProcessState process = ProcessWithAStack(1);
  EXPECT_TRUE(stacks.Add(process, Moments(5'000'000, 1)));
  EXPECT_TRUE(stacks.Add(process, Moments(1'000'000, 1)));
  EXPECT_EQ(stacks.size(), 2u);
}

TEST(ThreadStacksTest, KeepsMomentsEvenlyWhereThereAreTooMany) {
  constexpr int kMoments = 10'000;
  ThreadStacks stacks;
  const ProcessState process = ProcessWithAStack(1);
  uint64_t at_ns = 0;
  for (size_t sent = 0; sent < 3 * ThreadStacks::kMostSamples; sent += 2 * kMoments) {
    ASSERT_TRUE(stacks.Add(process, Moments(at_ns, kMoments)));
    at_ns += kMoments * 1'000'000ull;
  }
  EXPECT_LE(stacks.size(), ThreadStacks::kMostSamples);
  EXPECT_GT(stacks.size(), ThreadStacks::kMostSamples / 2);
  const auto count_in = [&](uint64_t start_ns, uint64_t end_ns) {
    std::set<uint64_t> times;
    size_t count = 0;
    stacks.ForEachIn(1, start_ns, end_ns, [&](const ThreadStacks::Sample& sample) {
      times.insert(sample.time_ns);
      ++count;
    });
    EXPECT_EQ(count, 2 * times.size()) << "a moment is kept with both threads";
    return static_cast<double>(count);
  };
  const double first = count_in(0, at_ns / 2), second = count_in(at_ns / 2, at_ns);
  EXPECT_NEAR(first / second, 1, 0.02);
}

TEST(ThreadStacksTest, TakesNoMoreOfAMomentThanThereIsRoomFor) {
  ThreadStacks stacks;
  const ProcessState process = ProcessWithAStack(1);
  ThreadStackBatch batch;
  for (int i = 0; i < 100'000; ++i) {
    batch.add_time_delta_ns(0);
    batch.add_stack(kStack);
  }
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(stacks.Add(process, batch));
  EXPECT_EQ(stacks.size(), ThreadStacks::kMostSamples);
}

TEST(ThreadStacksTest, TakesNoMoreMemoryThanTheRunHas) {
  const auto memory = std::make_shared<MemoryBudget>(10 * sizeof(ThreadStacks::Sample));
  ThreadStacks stacks(memory);
  EXPECT_TRUE(stacks.Add(ProcessWithAStack(1), Moments(1000, 50)));
  EXPECT_EQ(stacks.size(), 10u);
}

}  // namespace
}  // namespace utlz
