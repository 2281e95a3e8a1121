#include "proto/valid_text.h"

#include <gtest/gtest.h>

#include <string>

namespace utlz {
namespace {

std::string Valid(std::string text) {
  MakeValidUtf8(text.data(), text.size());
  return text;
}

TEST(ValidText, LeavesUtf8Alone) {
  for (const char* text : {"", "plain", "mein Lauf, ünïcödé", "日本語", "\xf0\x9f\x98\x80 "}) {
    EXPECT_EQ(Valid(text), text);
  }
}

TEST(ValidText, MarksWhatIsNot) {
  EXPECT_EQ(Valid("a\xff\xfe"
                  "b"),
            "a??b");
  EXPECT_EQ(Valid("caf\xe9"), "caf?") << "Latin-1";
  EXPECT_EQ(Valid("\xc3"), "?") << "cut off";
  EXPECT_EQ(Valid("\xe6\x97"), "??");
  EXPECT_EQ(Valid("\xc0\xaf"), "??") << "too long a form";
  EXPECT_EQ(Valid("\xe0\x80\xaf"), "???");
  EXPECT_EQ(Valid("\xed\xa0\x80"), "???") << "a surrogate";
  EXPECT_EQ(Valid("\xf4\x90\x80\x80"), "????") << "beyond the last character";
  EXPECT_EQ(Valid(std::string("\0\x80", 2)), std::string("\0?", 2));
}

}  // namespace
}  // namespace utlz
