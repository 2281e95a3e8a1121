#include "inject/record/untimed_operations.h"

#include <gtest/gtest.h>

namespace utlz::agent {
namespace {

constexpr bool kBegins = true, kOfGraph = true, kWithTimes = true;

// A replay of a graph, node by node; what is known to be over when it begins.
uint32_t Replay(UntimedOperations* operations, int untimed_before, int timed, int untimed_after) {
  uint32_t over = 0;
  for (int i = 0; i < untimed_before + timed + untimed_after; ++i) {
    const bool with_times = i >= untimed_before && i < untimed_before + timed;
    over += operations->Note(i == 0, kOfGraph, with_times);
  }
  return over;
}

TEST(UntimedOperationsTest, LaunchesOfTheirOwnAreOverAtOnce) {
  UntimedOperations operations;
  EXPECT_EQ(operations.Note(kBegins, !kOfGraph, kWithTimes), 0u);
  EXPECT_EQ(operations.Note(kBegins, !kOfGraph, !kWithTimes), 1u);
}

TEST(UntimedOperationsTest, AReplayWithAnyTimesIsCountedByThem) {
  UntimedOperations operations;
  Replay(&operations, 0, 3, 0);
  Replay(&operations, 0, 1, 2);  // cut by the end of a window
  Replay(&operations, 2, 1, 0);  // by its beginning
  EXPECT_EQ(operations.Note(kBegins, !kOfGraph, kWithTimes), 0u);
}

TEST(UntimedOperationsTest, AReplayWithoutAnyIsToldWhenTheNextOperationBegins) {
  UntimedOperations operations;
  EXPECT_EQ(Replay(&operations, 3, 0, 0), 0u);
  EXPECT_EQ(Replay(&operations, 0, 3, 0), 1u);
  Replay(&operations, 3, 0, 0);
  EXPECT_EQ(operations.Note(kBegins, !kOfGraph, !kWithTimes), 2u) << "the replay, and itself";
}

}  // namespace
}  // namespace utlz::agent
