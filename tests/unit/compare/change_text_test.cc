#include "tools/compare/change_text.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

TEST(ChangeTextTest, UnitsArePrefixed) {
  EXPECT_EQ(NumberText(12345678, "ns"), "12.35 ms");
  EXPECT_EQ(NumberText(2.5e9, "ns"), "2.500 s");
  EXPECT_EQ(NumberText(0.1234, "share"), "12.3 %");
  EXPECT_EQ(NumberText(3.2e12, "B"), "3.200 TB");
  EXPECT_EQ(NumberText(9.9996e6, "ns"), "10.00 ms") << "four digits, also when rounded up";
  EXPECT_EQ(NumberText(12, "1/s"), "12.00 /s");
  EXPECT_EQ(NumberText(std::nullopt, "ns"), "–");
  EXPECT_EQ(SignedNumberText(-1500, "ns"), "−1.500 µs");
  EXPECT_EQ(SignedNumberText(0.05, "share"), "+5.0 %");
}

TEST(ChangeTextTest, QuantitiesAreWords) {
  EXPECT_EQ(QuantityText("step_time_median_ns"), "step time median");
  EXPECT_EQ(QuantityText("gpu_busy_share"), "GPU busy");
  EXPECT_EQ(QuantityText("tokens_per_second"), "tokens per second");
  EXPECT_EQ(QuantityText("dram_read_bytes"), "DRAM read");
  EXPECT_EQ(QuantityText("hfu"), "HFU");
  EXPECT_EQ(QuantityText("flops"), "FLOPs, all types") << "HFU counts those of tensor cores";
}

}  // namespace
}  // namespace utlz
