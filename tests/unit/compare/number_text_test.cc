#include "tools/compare/number_text.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

TEST(NumberTextTest, UnitsArePrefixed) {
  EXPECT_EQ(NumberText(12345678, "ns"), "12.35 ms");
  EXPECT_EQ(NumberText(2.5e9, "ns"), "2.500 s");
  EXPECT_EQ(NumberText(0.1234, "share"), "12.3 %");
  EXPECT_EQ(NumberText(3.2e12, "B"), "3.200 TB");
  EXPECT_EQ(NumberText(std::nullopt, "ns"), "–");
  EXPECT_EQ(SignedNumberText(-1500, "ns"), "−1.500 µs");
  EXPECT_EQ(SignedNumberText(0.05, "share"), "+5.0 %");
}

TEST(NumberTextTest, QuantitiesAreWords) {
  EXPECT_EQ(QuantityText("step_time_median_ns"), "step time median");
  EXPECT_EQ(QuantityText("gpu_busy_share"), "GPU busy");
  EXPECT_EQ(QuantityText("tokens_per_second"), "tokens per second");
  EXPECT_EQ(QuantityText("dram_read_bytes"), "DRAM read");
  EXPECT_EQ(QuantityText("hfu"), "HFU");
  EXPECT_EQ(QuantityText("flops"), "FLOPs");
}

TEST(NumberTextTest, TerminalNamesHoldNoControls) {
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
  EXPECT_EQ(TerminalName("bad \xff\xc3", 100), "bad ??");
  EXPECT_EQ(TerminalName("µs", 100), "µs");
}

TEST(NumberTextTest, LongNamesLoseTheirMiddle) {
  EXPECT_EQ(TerminalName("abcdefghijkl", 7), "abcd…kl");
  EXPECT_EQ(TerminalName("abcdefg", 7), "abcdefg");
}

TEST(NumberTextTest, MarkdownNamesCannotMarkUp) {
  const std::string text = MarkdownName("<img src=x>|`*[a](b)\n@c", 100);
  for (const char letter : {'<', '>', '|', '`', '*', '[', ']', '\n', '@'}) {
    EXPECT_EQ(text.find(letter), std::string::npos) << letter;
  }
  EXPECT_NE(text.find("&#60;img"), std::string::npos);
}

TEST(NumberTextTest, MarkdownSentencesReadAsTheyAre) {
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
