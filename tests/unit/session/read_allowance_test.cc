#include "collector/session/read_allowance.h"

#include <gtest/gtest.h>

#include "tests/support/nanoseconds.h"

namespace utlz {
namespace {

constexpr uint64_t kRate = 1000;

TEST(ReadAllowanceTest, ABurstAndThenTheRate) {
  ReadAllowance allowance(kRate);
  EXPECT_EQ(allowance.LeftBytes(kSecondNs), 4 * kRate);
  allowance.Spend(4 * kRate);
  EXPECT_EQ(allowance.LeftBytes(kSecondNs), 0u);
  EXPECT_TRUE(allowance.exhausted());
  EXPECT_EQ(allowance.LeftBytes(2 * kSecondNs), kRate);
  EXPECT_EQ(allowance.LeftBytes(1000 * kSecondNs), 4 * kRate) << "no more is ever saved";
}

TEST(ReadAllowanceTest, WhatWasReadBeyondItIsOwed) {
  ReadAllowance allowance(kRate);
  allowance.LeftBytes(kSecondNs);
  allowance.Spend(6 * kRate);
  EXPECT_EQ(allowance.LeftBytes(2 * kSecondNs), 0u);
  EXPECT_EQ(allowance.LeftBytes(4 * kSecondNs), kRate);
}

TEST(ReadAllowanceTest, AClockThatGoesBackGivesNothing) {
  ReadAllowance allowance(kRate);
  allowance.LeftBytes(10 * kSecondNs);
  allowance.Spend(4 * kRate);
  EXPECT_EQ(allowance.LeftBytes(5 * kSecondNs), 0u);
}

TEST(ReadAllowanceTest, WithoutARateAnythingGoes) {
  ReadAllowance allowance(0);
  allowance.Spend(uint64_t{1} << 40);
  EXPECT_GT(allowance.LeftBytes(kSecondNs), uint64_t{1} << 40);
  EXPECT_FALSE(allowance.exhausted());
}

}  // namespace
}  // namespace utlz
