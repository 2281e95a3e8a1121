#include "collector/text/bound_text.h"

#include <gtest/gtest.h>

#include <string>

#include "collector/text/number_text.h"

namespace utlz {
namespace {

TEST(BoundText, EveryBoundHasItsOwnWord) {
  EXPECT_STREQ(BoundText(BOUND_COMMUNICATION), "communication");
  EXPECT_STREQ(BoundText(BOUND_NEITHER), "mixed");
  EXPECT_STREQ(BoundText(BOUND_UNKNOWN), kUnknown);
  EXPECT_STREQ(ShortBoundText(BOUND_COMMUNICATION), "comm");
}

TEST(ShortBoundText, FitsInNarrowColumns) {
  for (int bound = Bound_MIN; bound <= Bound_MAX; ++bound) {
    EXPECT_LE(std::string(ShortBoundText(static_cast<Bound>(bound))).size(), 7u) << bound;
  }
}

}  // namespace
}  // namespace utlz
