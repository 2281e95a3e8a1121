#include "collector/text/shown_text.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

TEST(ShownTextTest, CutsInTheMiddleByCharacters) {
  EXPECT_EQ(CutMiddle("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(CutMiddle("äöüäöüäöü", 5), "äö…öü");
  EXPECT_EQ(CutMiddle("short", 5), "short");
  EXPECT_EQ(CutMiddle("anything", 1), "…");
  EXPECT_EQ(CutBeginning("äöüäöüäöü", 5), "…üäöü");
  EXPECT_EQ(CutEnd("äöüäöüäöü", 5), "äöüä…");
  EXPECT_EQ(CutBeginning("short", 5) + CutEnd("short", 5), "shortshort");
  EXPECT_EQ(ToValidUtf8("a\xc0\x80z"), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(EscapeForTerminal("é\x7f"), "é\\x7f");
}

TEST(ShownTextTest, TerminalNamesHoldNoControls) {
  EXPECT_EQ(TerminalName("a\x1b[31mb\nc\x7f", 100), "a?[31mb?c?");
  EXPECT_EQ(TerminalName("\xc2\x9b"
                         "31m",
                         100),
            "??31m");
  EXPECT_EQ(TerminalName("a\xe2\x80\xae"
                         "b",
                         100),
            "a???b");
  EXPECT_EQ(TerminalName("\xe2\x80\x8f\xd8\x9c", 100), "?????") << "marks of direction";
  EXPECT_EQ(TerminalName("a\xef\xbb\xbfz", 100), "a???z") << "a mark of byte order";
  EXPECT_EQ(TerminalName("bad \xff\xc3", 100), "bad ??");
  EXPECT_EQ(TerminalName("µs", 100), "µs");
}

TEST(ShownTextTest, JsonMeansTheSameWithoutControls) {
  EXPECT_EQ(EscapeInJson("{\"a\": \"µ\"}\n"), "{\"a\": \"µ\"}\n");
  EXPECT_EQ(EscapeInJson("\"a\xc2\x9b"
                         "31m\x7f\""),
            "\"a\\u009b31m\\u007f\"");
  EXPECT_EQ(EscapeInJson("\"\xe2\x80\xae\xd8\x9c\xef\xbb\xbf\""), "\"\\u202e\\u061c\\ufeff\"");
  EXPECT_EQ(EscapeInJson("\"\xf0\x9f\x98\x80\""), "\"\xf0\x9f\x98\x80\"") << "above U+FFFF";
}

TEST(ShownTextTest, ACharacterThatActsBecomesVisible) {
  EXPECT_EQ(VisibleCharacter("a"), "a");
  EXPECT_EQ(VisibleCharacter("µ"), "µ");
  EXPECT_EQ(VisibleCharacter("\n"), "\\u000a");
  EXPECT_EQ(VisibleCharacter("\xc2\x9b"), "\\u009b");
  EXPECT_EQ(VisibleCharacter("\xe2\x80\xae"), "\\u202e");
}

TEST(ShownTextTest, LongNamesLoseTheirMiddle) {
  EXPECT_EQ(TerminalName("abcdefghijkl", 7), "abcd…kl");
  EXPECT_EQ(TerminalName("abcdefg", 7), "abcdefg");
}

TEST(ShownTextTest, MarkdownNamesCannotMarkUp) {
  const std::string text = MarkdownName("<img src=x>|`*[a](b)\n@c", 100);
  for (const char letter : {'<', '>', '|', '`', '*', '[', ']', '\n', '@'}) {
    EXPECT_EQ(text.find(letter), std::string::npos) << letter;
  }
  EXPECT_NE(text.find("&#60;img"), std::string::npos);
}

TEST(ShownTextTest, MarkdownSentencesReadAsTheyAre) {
  for (const char* plain :
       {"In its steps the GPU was busy 91.5 % of the time (launch-bound); 2.45 TB/s.",
        "Try: torch.compile with mode=\"reduce-overhead\", 3 of 4",
        "vectorized_layer_norm_kernel"}) {
    EXPECT_EQ(MarkdownName(plain, 0), plain);
  }
  for (const char* acts : {"https://x", "www.x", "__x__", "--- ", "-x", "1. x", "1) x", "== x",
                           "a//b", "&amp;", "~x~", "#1", "!x", "+ x", "\\x", "a:b"}) {
    EXPECT_NE(MarkdownName(acts, 0), acts);
  }
}

}  // namespace
}  // namespace utlz
