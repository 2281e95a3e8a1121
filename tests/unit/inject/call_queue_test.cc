#include "inject/record/call_queue.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace utlz::agent {
namespace {

struct Event {
  uint32_t thread;
  uint32_t number;
};
using Queue = CallQueue<Event>;

TEST(CallQueueTest, KeepsOrderOverManyLaps) {
  Queue queue;
  ASSERT_TRUE(queue.Create());
  Event event;
  for (uint32_t i = 0; i < 3 * Queue::kSlots; ++i) {
    queue.Push({1, i});
    ASSERT_TRUE(queue.Pop(&event));
    ASSERT_EQ(event.number, i);
  }
  EXPECT_FALSE(queue.Pop(&event));
  EXPECT_EQ(queue.TakeLost(), 0u);
}

TEST(CallQueueTest, CountsWhatFindsNoRoom) {
  Queue queue;
  ASSERT_TRUE(queue.Create());
  for (uint32_t i = 0; i < Queue::kSlots + 5; ++i) queue.Push({1, i});
  EXPECT_EQ(queue.TakeLost(), 5u);
  EXPECT_EQ(queue.TakeLost(), 0u);
  Event event;
  uint32_t taken = 0;
  while (queue.Pop(&event)) EXPECT_EQ(event.number, taken++);
  EXPECT_EQ(taken, Queue::kSlots);
  queue.Push({1, 7});
  EXPECT_TRUE(queue.Pop(&event));
  EXPECT_EQ(event.number, 7u);
}

TEST(CallQueueTest, ThreadsKeepTheirOwnOrder) {
  constexpr uint32_t kThreads = 4, kEach = 20000;
  Queue queue;
  ASSERT_TRUE(queue.Create());
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&queue, thread] {
      for (uint32_t i = 0; i < kEach; ++i) queue.Push({thread, i});
    });
  }
  uint64_t seen = 0, lost = 0;
  uint32_t next[kThreads] = {};
  const auto take = [&] {
    Event event;
    while (queue.Pop(&event)) {
      ASSERT_LT(event.thread, kThreads);
      ASSERT_GE(event.number, next[event.thread]);
      next[event.thread] = event.number + 1;
      ++seen;
    }
    lost += queue.TakeLost();
  };
  while (seen + lost < kThreads * kEach) take();
  for (std::thread& thread : threads) thread.join();
  take();
  EXPECT_EQ(seen + lost, kThreads * kEach);
}

}  // namespace
}  // namespace utlz::agent
