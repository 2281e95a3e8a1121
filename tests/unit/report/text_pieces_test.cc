#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tools/report/escape.h"
#include "tools/report/text_sections.h"
#include "tools/report/units.h"

namespace utlz {
namespace {

TEST(UnitsTest, BytesAreWhole) {
  EXPECT_EQ(FormatBytes(4), "4 B");
  EXPECT_EQ(FormatBytes(999), "999 B");
  EXPECT_EQ(FormatBytes(4.5), "4.50 B");
  EXPECT_EQ(FormatBytes(1024), "1.02 kB");
}

TEST(UnitsTest, AreReadable) {
  EXPECT_EQ(FormatTime(1.234e9), "1.23 s");
  EXPECT_EQ(FormatTime(45.6e6), "45.6 ms");
  EXPECT_EQ(FormatTime(999.96e3), "1.00 ms");
  EXPECT_EQ(FormatTime(12), "12.0 ns");
  EXPECT_EQ(FormatTime(std::nullopt), kUnknown);
  EXPECT_EQ(FormatTime(NAN), kUnknown);
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(461'000), "461k");
  EXPECT_EQ(FormatRate(3.12e14), "312T");
  EXPECT_EQ(FormatMeasuredRate(3.12e14, 1e12), "312T");
  EXPECT_EQ(FormatMeasuredRate(1e9, 1e9), "<2.96G") << "an interval that reaches down to zero";
  EXPECT_EQ(FormatMeasuredRate(0.0, 0), "0");
  EXPECT_EQ(FormatMeasuredRate(std::nullopt, 1e9), "–");
  EXPECT_EQ(FormatRateIn(1.8e9, "Hz"), "1.80 GHz");
  EXPECT_EQ(FormatShortShare(0.001), "<1%");
  EXPECT_EQ(FormatGrouped(1234567), "1,234,567");
  EXPECT_EQ(FormatGrouped(12), "12");
}

TEST(EscapeTest, CutsInTheMiddleByCharacters) {
  EXPECT_EQ(CutMiddle("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(CutMiddle("äöüäöüäöü", 5), "äö…öü");
  EXPECT_EQ(CutMiddle("short", 5), "short");
  EXPECT_EQ(CutMiddle("anything", 1), "…");
  EXPECT_EQ(ToValidUtf8("a\xc0\x80z"), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(EscapeForTerminal("é\x7f"), "é\\x7f");
}

TEST(WrapTest, IndentsAndKeepsWords) {
  EXPECT_EQ(Wrap("one two three", 8, 2), "one two\n  three\n");
  EXPECT_EQ(Wrap("one", 8, 2, 2), "  one\n");
}

}  // namespace
}  // namespace utlz
