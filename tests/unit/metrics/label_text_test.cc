#include "collector/metrics/label_text.h"

#include <gtest/gtest.h>

#include <string>

namespace utlz {
namespace {

TEST(LabelText, KeepsWellFormedText) { EXPECT_EQ(LabelText("größer\\ \"x\""), "größer\\ \"x\""); }

TEST(LabelText, ReplacesWhatIsNoText) { EXPECT_EQ(LabelText("a\nb\x1b[2Jc\xff"), "a?b?[2Jc?"); }

TEST(LabelText, CutsBetweenCharacters) {
  const std::string text(kMaxLabelBytes - 1, 'x');
  EXPECT_EQ(LabelText(text + "yz"), text + "y");
  EXPECT_EQ(LabelText(text + "ö"), text) << "half a character is none";
}

TEST(BaseName, IsTheLastPart) {
  EXPECT_EQ(BaseName("/usr/bin/python3"), "python3");
  EXPECT_EQ(BaseName("python3"), "python3");
}

}  // namespace
}  // namespace utlz
