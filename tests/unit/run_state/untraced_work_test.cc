// Of programs that launch ahead of their GPU, a window records work that runs after its end, and
// none of what runs at its beginning.
#include "collector/windows/untraced_work.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "tests/support/made_up_loads.h"

namespace utlz {
namespace {

constexpr uint64_t kKernelNs = kMillisecond;

class UntracedWorkTest : public testing::Test {
 protected:
  // Kernels of a millisecond, one after the other.
  void Add(uint64_t start_ms, uint64_t end_ms) {
    for (uint64_t at_ms = start_ms; at_ms < end_ms; ++at_ms) {
      work_.Add(at_ms * kMillisecond, at_ms * kMillisecond + kKernelNs);
    }
  }
  void Begin(uint64_t start_ms, uint64_t end_ms) {
    work_.Begin({start_ms * kMillisecond, end_ms * kMillisecond});
  }
  void ExpectUntraced(uint64_t start_ms, uint64_t end_ms) {
    const std::optional<UntracedGap> untraced = work_.Settle();
    ASSERT_TRUE(untraced.has_value());
    EXPECT_EQ(untraced->start_ns, start_ms * kMillisecond);
    EXPECT_EQ(untraced->end_ns, end_ms * kMillisecond);
  }

  UntracedWork work_;
};

TEST_F(UntracedWorkTest, AProgramThatWaitsForItsGpuLeavesTheGapAsItIs) {
  Add(0, 10);
  Begin(10, 100);
  EXPECT_FALSE(work_.has_work_after());
  Add(103, 110);
  EXPECT_TRUE(work_.has_work_after());
  ExpectUntraced(10, 100);
}

// The window of 0 to 10 ms recorded work up to 17 ms, that from 100 ms on begins at 107 ms.
TEST_F(UntracedWorkTest, TheGapOfAProgramThatLaunchesAheadIsLaterByItsLead) {
  Add(7, 17);
  Begin(10, 100);
  Add(107, 117);
  ExpectUntraced(17, 107);
  Begin(110, 200);
  Add(207, 217);
  ExpectUntraced(117, 207);
}

// The GPU had nothing to do: no more of that than the lead is left out.
TEST_F(UntracedWorkTest, IdleTimeThatTheLeadDoesNotExplainIsIdleTime) {
  Add(7, 17);
  Begin(10, 100);
  Add(150, 160);
  ExpectUntraced(17, 107);
}

// Windows that end where the program waits for its GPU show no lead; others do before and after.
TEST_F(UntracedWorkTest, TheLeadOfEarlierWindowsCounts) {
  Add(0, 20);
  Begin(10, 100);
  Add(110, 111);
  ExpectUntraced(20, 110);
  Begin(111, 200);
  Add(208, 209);
  ExpectUntraced(111, 208);
  Begin(209, 300);
  Add(310, 311);
  const std::optional<UntracedGap> untraced = work_.Settle();
  ASSERT_TRUE(untraced.has_value());
  EXPECT_GT(untraced->end_ns, 300 * kMillisecond);
  EXPECT_LT(untraced->end_ns, 308 * kMillisecond) << "old ones count for less";
}

TEST_F(UntracedWorkTest, WithoutWorkInTheWindowItIsTracedFromItsBeginning) {
  Add(7, 17);
  Begin(10, 100);
  ExpectUntraced(17, 100);
}

// One of its kernels waited for something: what ran meanwhile is not known.
TEST_F(UntracedWorkTest, WorkAfterAPauseSaysNothingOfThePause) {
  Add(0, 12);
  Add(50, 51);
  Begin(10, 100);
  Add(102, 103);
  ExpectUntraced(12, 102);
}

// Records come when kernels are over: some after the next window has opened.
TEST_F(UntracedWorkTest, RecordsMayComeLate) {
  Add(7, 12);
  Begin(10, 100);
  Add(12, 17);
  Add(107, 117);
  ExpectUntraced(17, 107);
}

// Copies come in frames of their own.
TEST_F(UntracedWorkTest, WhatComesLaterMayHaveRunInAPause) {
  Add(7, 8);
  Add(13, 14);
  Add(16, 17);
  Add(5, 16);
  Begin(10, 100);
  Add(107, 117);
  ExpectUntraced(17, 107);
}

TEST_F(UntracedWorkTest, WorkThatGoesOnUpToTheNextWindowLeavesNoGap) {
  Add(0, 100);
  Begin(10, 50);
  EXPECT_FALSE(work_.Settle().has_value());
  EXPECT_FALSE(work_.Settle().has_value());
}

}  // namespace
}  // namespace utlz
