#include "collector/text/shell_text.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

TEST(ShellTextTest, HarmlessWordsStandAlone) {
  EXPECT_EQ(ShellWord("./train.py"), "./train.py");
  EXPECT_EQ(ShellWord("--steps=3,4"), "--steps=3,4");
}

TEST(ShellTextTest, WordsThatAShellWouldActOnAreQuoted) {
  EXPECT_EQ(ShellWord("a b"), "'a b'");
  EXPECT_EQ(ShellWord("$(reboot)"), "'$(reboot)'");
  EXPECT_EQ(ShellWord(""), "''");
}

TEST(ShellTextTest, ASingleQuoteEndsTheQuotedTextAndBeginsItAnew) {
  EXPECT_EQ(InSingleQuotes("it's"), "it'\\''s");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace utlz
