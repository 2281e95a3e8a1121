#include "inject/record/buffer_pool.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace utlz::agent {
namespace {

TEST(BufferPool, NeverHandsOutABufferTwice) {
  BufferPool pool;
  ASSERT_TRUE(pool.Create());
  std::set<uint8_t*> seen;
  for (uint32_t i = 0; i < BufferPool::kBuffers + BufferPool::kMaxExtra; ++i) {
    uint8_t* buffer = pool.Acquire();
    ASSERT_NE(buffer, nullptr) << i;
    EXPECT_TRUE(seen.insert(buffer).second);
    EXPECT_TRUE(pool.Owns(buffer));
  }
  EXPECT_EQ(pool.Acquire(), nullptr);
  EXPECT_EQ(pool.outstanding(), seen.size());
  for (uint8_t* buffer : seen) EXPECT_TRUE(pool.Release(buffer));
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(BufferPool, LeavesTheBuffersOfOthersAlone) {
  BufferPool pool;
  ASSERT_TRUE(pool.Create());
  uint8_t foreign[8];
  EXPECT_FALSE(pool.Owns(foreign));
  EXPECT_FALSE(pool.Release(foreign));
  EXPECT_FALSE(pool.Release(nullptr));
}

TEST(BufferPool, GivesBackTheMemoryOfBuffersThatNobodyHolds) {
  BufferPool pool;
  ASSERT_TRUE(pool.Create());
  uint8_t* held = pool.Acquire();
  uint8_t* released = pool.Acquire();
  *held = *released = 7;
  ASSERT_TRUE(pool.Release(released));
  pool.GiveMemoryBack();
  EXPECT_EQ(*held, 7);
  EXPECT_EQ(*released, 0);
  EXPECT_EQ(pool.Acquire(), released);
}

TEST(BufferPool, ServesManyThreads) {
  BufferPool pool;
  ASSERT_TRUE(pool.Create());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 20000; ++i) {
        uint8_t* buffer = pool.Acquire();
        ASSERT_NE(buffer, nullptr);
        *reinterpret_cast<volatile int*>(buffer) = t;
        ASSERT_EQ(*reinterpret_cast<volatile int*>(buffer), t) << "two threads share a buffer";
        pool.Release(buffer);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(pool.outstanding(), 0u);
}

}  // namespace
}  // namespace utlz::agent
