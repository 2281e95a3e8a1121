#include "inject/tracing/late_records.h"

#include <gtest/gtest.h>

namespace utlz::agent {
namespace {

constexpr uint64_t kMany = LateRecords::kFewNodes + 1;

TEST(LateRecordsTest, NoneIsExpectedBeforeAnythingWasSwitchedOff) {
  LateRecords records;
  EXPECT_FALSE(records.expected());
  EXPECT_FALSE(records.StillCome(1'000'000'000, 1000, false, true));
}

TEST(LateRecordsTest, StragglersAreNoReasonToSwitchOffAgain) {
  LateRecords records;
  records.SwitchedOff(0);
  EXPECT_TRUE(records.expected());
  EXPECT_FALSE(records.StillCome(LateRecords::kStragglersNs - 1, 10'000, false, true));
  EXPECT_FALSE(records.StillCome(LateRecords::kStragglersNs, 10'000 + kMany - 1, false, true));
}

TEST(LateRecordsTest, ManyLongAfterwardsAre) {
  LateRecords records;
  records.SwitchedOff(0);
  records.StillCome(1, 100, false, true);
  EXPECT_TRUE(records.StillCome(LateRecords::kStragglersNs, 100 + kMany, false, true));
  // Waits for those of this time.
  EXPECT_FALSE(records.StillCome(LateRecords::kStragglersNs + 1, 100 + 2 * kMany, false, true));
  EXPECT_TRUE(records.StillCome(2 * LateRecords::kStragglersNs, 100 + 3 * kMany, false, true));
}

TEST(LateRecordsTest, SilenceEndsTheWait) {
  LateRecords records;
  records.SwitchedOff(0);
  records.StillCome(1, 100, false, true);
  const uint64_t silent_ns = LateRecords::kStragglersNs + LateRecords::kSilentNs;
  records.StillCome(silent_ns, 100, false, true);
  EXPECT_TRUE(records.expected());
  records.StillCome(silent_ns + 1, 100, false, true);
  EXPECT_FALSE(records.expected());
}

TEST(LateRecordsTest, TracingEndsTheWait) {
  LateRecords records;
  records.SwitchedOff(0);
  records.StillCome(1, 100, true, true);
  EXPECT_FALSE(records.expected());
}

TEST(LateRecordsTest, WhatComesWhileAnotherHasTheBuffersDoesNotCount) {
  LateRecords records;
  records.SwitchedOff(0);
  EXPECT_FALSE(records.StillCome(LateRecords::kStragglersNs, 10'000, false, false));
  EXPECT_TRUE(records.expected());
  EXPECT_FALSE(records.StillCome(LateRecords::kStragglersNs + 1, 10'000, false, true));
}

}  // namespace
}  // namespace utlz::agent
