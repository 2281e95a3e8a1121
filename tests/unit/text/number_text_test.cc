#include "collector/text/number_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace utlz {
namespace {

TEST(NumberTextTest, ReadsAsPeopleWrite) {
  EXPECT_EQ(PercentText(0.1234), "12.3 %");
  EXPECT_EQ(PrefixedText(9.494e14, "FLOP/s"), "949 TFLOP/s");
  EXPECT_EQ(PrefixedText(3.57e9, "B"), "3.57 GB");
  EXPECT_EQ(PrefixedText(8'420'000, "B"), "8.42 MB");
  EXPECT_EQ(PrefixedText(999'700, "B"), "1.00 MB");
  EXPECT_EQ(PrefixedText(2.025e8, ""), "202 M");
  EXPECT_EQ(PrefixedText(12, ""), "12.0");
  EXPECT_EQ(PrefixedText(1e24, "B"), "1000000 EB");
  EXPECT_EQ(TimeText(14'900), "14.9 µs");
  EXPECT_EQ(TimeText(1.754e6), "1.75 ms");
  EXPECT_EQ(TimeText(60e9), "60.0 s");
  EXPECT_EQ(CountText(25'002), "25,002");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(RoundCountText(14'216), "14,200");
  EXPECT_EQ(RoundCountText(998), "998");
}

TEST(NumberTextTest, SurvivesWhatIsNoCount) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(CountText(-3), "0");
  EXPECT_EQ(CountText(nan), "0");
  EXPECT_EQ(RoundCountText(nan), "0");
  EXPECT_EQ(CountText(infinity), "1,000,000,000,000,000");
  EXPECT_EQ(RoundCountText(infinity), "1,000,000,000,000,000");
}

}  // namespace
}  // namespace utlz
