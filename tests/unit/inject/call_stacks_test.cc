#include "inject/python/call_stacks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace utlz::agent {
namespace {

TEST(CallStacks, GivesBackWhatWasPut) {
  CallStacks calls;
  ASSERT_TRUE(calls.Create());
  EXPECT_EQ(calls.Get(0), 0u);
  calls.Put(0, 17);
  calls.Put(5, UINT64_MAX);
  calls.Put(UINT32_MAX, 18);
  EXPECT_EQ(calls.Get(0), 17u);
  EXPECT_EQ(calls.Get(5), UINT64_MAX);
  EXPECT_EQ(calls.Get(UINT32_MAX), 18u);
  EXPECT_EQ(calls.Get(6), 0u);
}

TEST(CallStacks, IsTakenOnce) {
  CallStacks calls;
  ASSERT_TRUE(calls.Create());
  calls.Put(7, 1);
  EXPECT_EQ(calls.Take(8), 0u);
  EXPECT_EQ(calls.Take(7), 1u);
  EXPECT_EQ(calls.Take(7), 0u);
  EXPECT_EQ(calls.Get(7), 0u);
}

TEST(CallStacks, ANumberThatComesAgainIsNobodys) {
  CallStacks calls;
  ASSERT_TRUE(calls.Create());
  calls.Put(7, 1);
  calls.Put(7, 2);
  EXPECT_EQ(calls.Get(7), 0u);
  EXPECT_EQ(calls.Take(7), 0u);
  calls.Put(7, 3);
  EXPECT_EQ(calls.Get(7), 0u);
  calls.Put(8, 4);
  EXPECT_EQ(calls.Take(8), 4u);
  calls.Put(8, 5);
  EXPECT_EQ(calls.Take(8), 0u) << "not once it was taken, either";
  calls.Put(7 + CallStacks::kEntries, 6);
  EXPECT_EQ(calls.Take(7 + CallStacks::kEntries), 6u) << "another call in the same place";
}

TEST(CallStacks, KnowsNoCallWhosePlaceIsTaken) {
  CallStacks calls;
  ASSERT_TRUE(calls.Create());
  calls.Put(7, 1);
  calls.Put(7 + CallStacks::kEntries, 2);
  EXPECT_EQ(calls.Get(7), 0u);
  EXPECT_EQ(calls.Get(7 + CallStacks::kEntries), 2u);
  calls.Clear();
  EXPECT_EQ(calls.Get(7 + CallStacks::kEntries), 0u);
}

// Each thread puts calls that fall into one place; a reader gets a whole entry, or none.
TEST(CallStacks, GivesNobodyAnothersStack) {
  CallStacks calls;
  ASSERT_TRUE(calls.Create());
  constexpr uint32_t kThreads = 3, kRounds = 200000;
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t thread = 1; thread <= kThreads; ++thread) {
    threads.emplace_back([&calls, thread] {
      for (uint32_t i = 0; i < kRounds; ++i) calls.Put(thread * CallStacks::kEntries, thread);
    });
  }
  std::thread reader([&] {
    while (!stop) {
      for (uint32_t thread = 1; thread <= kThreads; ++thread) {
        const uint64_t hash = calls.Get(thread * CallStacks::kEntries);
        if (hash != 0 && hash != thread) ++wrong;
      }
    }
  });
  for (std::thread& thread : threads) thread.join();
  stop = true;
  reader.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace utlz::agent
