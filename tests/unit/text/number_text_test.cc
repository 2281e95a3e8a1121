#include "collector/text/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace utlz {
namespace {

TEST(NumberTextTest, ReadsAsPeopleWrite) {
  EXPECT_EQ(PercentText(0.1234), "12.3 %");
  EXPECT_EQ(PrecisePercentText(0.1234), "12.3 %");
  EXPECT_EQ(PrecisePercentText(0.001), "0.1 %");
  EXPECT_EQ(PrecisePercentText(0.000283), "0.028 %");
  EXPECT_EQ(PrecisePercentText(-0.000999), "-0.100 %");
  EXPECT_EQ(PrecisePercentText(1e-30), "0.000000000 %");
  EXPECT_EQ(PrecisePercentText(0), "0.0 %");
  EXPECT_EQ(PrecisePercentText(std::nullopt), kUnknown);
  EXPECT_EQ(PercentWithErrorText(0.1234, 0.01), "12.3 % ± 1.0 %");
  EXPECT_EQ(PercentWithErrorText(0.1234, 0.0004), "12.3 % ± <0.1 %");
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
  EXPECT_EQ(TimeText(5.4e12), "1.50 h");
  EXPECT_EQ(TimeText(0), "0");
  EXPECT_EQ(CountText(25'002), "25,002");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(RoundCountText(14'216), "14,200");
  EXPECT_EQ(RoundCountText(998), "998");
}

TEST(NumberTextTest, BytesAreWhole) {
  EXPECT_EQ(BytesText(4), "4 B");
  EXPECT_EQ(BytesText(999), "999 B");
  EXPECT_EQ(BytesText(4.5), "4.50 B");
  EXPECT_EQ(BytesText(1024), "1.02 kB");
}

TEST(NumberTextTest, FitsColumns) {
  EXPECT_EQ(TimeText(1.234e9), "1.23 s");
  EXPECT_EQ(TimeText(45.6e6), "45.6 ms");
  EXPECT_EQ(TimeText(999.96e3), "1.00 ms");
  EXPECT_EQ(TimeText(12), "12.0 ns");
  EXPECT_EQ(TimeText(std::nullopt), kUnknown);
  EXPECT_EQ(TimeText(NAN), kUnknown);
  EXPECT_EQ(CompactCountText(999), "999");
  EXPECT_EQ(CompactCountText(461'000), "461k");
  EXPECT_EQ(CompactText(3.12e14), "312T");
  EXPECT_EQ(CompactMeasuredText(3.12e14, 1e12), "312T");
  EXPECT_EQ(CompactMeasuredText(1e9, 1e9), "<2.96G") << "an interval that reaches down to zero";
  EXPECT_EQ(CompactMeasuredText(0.0, 0), "0");
  EXPECT_EQ(CompactMeasuredText(std::nullopt, 1e9), "–");
  EXPECT_EQ(PrefixedText(1.8e9, "Hz"), "1.80 GHz");
  EXPECT_EQ(ShortPercentText(0.001), "<1%");
}

TEST(NumberTextTest, HasAsManyDigitsAsAskedFor) {
  EXPECT_EQ(TimeText(1.75449e6, 4), "1.754 ms");
  EXPECT_EQ(TimeText(999.96e3, 4), "1.000 ms");
  EXPECT_EQ(TimeText(999.94e3, 4), "999.9 µs");
  EXPECT_EQ(PrefixedText(99.996e9, "B", 4), "100.0 GB");
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
