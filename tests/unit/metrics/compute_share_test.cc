#include "collector/metrics/compute_share.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

TEST(Mfu, NothingWhereSomethingIsNotKnown) {
  EXPECT_DOUBLE_EQ(MfuOf(0.5, 1e12, 4e12).value(), 0.5);
  EXPECT_FALSE(MfuOf(std::nullopt, 1e12, 4e12).has_value());
  EXPECT_FALSE(MfuOf(0, 1e12, 4e12).has_value());
  EXPECT_FALSE(MfuOf(0.5, 0, 4e12).has_value());
  EXPECT_FALSE(MfuOf(0.5, 1e12, 0).has_value());
}

TEST(Mfu, WhatCannotBeIsNotSaid) { EXPECT_FALSE(MfuOf(0.2, 1e12, 4e12).has_value()); }

}  // namespace
}  // namespace utlz
