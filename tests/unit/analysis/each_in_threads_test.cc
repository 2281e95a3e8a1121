// Work that several threads share is done once.
#include "collector/each_in_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <vector>

namespace utlz {
namespace {

TEST(EachInThreadsTest, DoesEachPieceOnce) {
  for (const unsigned threads : {0u, 1u, 3u, 100u}) {
    for (const size_t count : {0u, 1u, 2u, 500u}) {
      std::vector<std::atomic<int>> done(count);
      EachInThreads(count, threads, [&](size_t i) { ++done[i]; });
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(done[i], 1) << i << " of " << count << " in " << threads << " threads";
      }
    }
  }
}

// Each piece waits until another is under way: one thread alone would wait for ever.
TEST(EachInThreadsTest, DoesPiecesAtOnce) {
  std::atomic<int> begun = 0;
  EachInThreads(2, 2, [&](size_t) {
    ++begun;
    for (int seen = begun; seen < 2; seen = begun) begun.wait(seen);
    begun.notify_all();
  });
  EXPECT_EQ(begun, 2);
}

}  // namespace
}  // namespace utlz
