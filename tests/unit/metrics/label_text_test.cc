#include "collector/metrics/label_text.h"

#include <gtest/gtest.h>

#include <string>

namespace utlz {
namespace {

TEST(LabelText, KeepsWellFormedText) { EXPECT_EQ(LabelText("größer\\ \"x\""), "größer\\ \"x\""); }

TEST(LabelText, ReplacesWhatIsNoText) { EXPECT_EQ(LabelText("a\nb\x1b[2Jc\xff"), "a?b?[2Jc?"); }

// They would turn the direction of the line, or act on a terminal, wherever a label is shown.
TEST(LabelText, ShowsWhatTurnsTheDirectionOrControls) {
  const std::string turned = "\xe2\x80\xae";
  EXPECT_EQ(LabelText("a" + turned + "b\xe2\x81\xa6\xe2\x80\x8f"), "a\\u202eb\\u2066\\u200f");
  EXPECT_EQ(LabelText("a\xc2\x9b[2J"), "a\\u009b[2J");
  EXPECT_EQ(LabelText(LabelText(turned)), "\\u202e") << "labels of a history are read again";
  const std::string text(kMaxLabelBytes - 5, 'x');
  EXPECT_EQ(LabelText(text + turned), text) << "half of such a text is none";
}

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
