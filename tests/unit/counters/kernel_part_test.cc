#include "collector/counters/kernel_part.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

KernelPart Counted(uint32_t number, uint32_t parts, uint64_t minimum_ns, uint64_t maximum_ns) {
  KernelPart part;
  part.part = number;
  part.parts = parts;
  part.minimum_ns = minimum_ns;
  part.maximum_ns = maximum_ns;
  part.counters[METRIC_DRAM_READ_BYTES] = {.value = 1e6, .error = 1};
  return part;
}

// Every duration is in one part, and none in two.
void ExpectToTile(const std::vector<KernelPart>& parts) {
  uint64_t until_ns = 0;
  for (const KernelPart& part : parts) {
    EXPECT_EQ(part.minimum_ns, until_ns);
    EXPECT_LT(part.minimum_ns, part.maximum_ns);
    until_ns = part.maximum_ns;
  }
  EXPECT_EQ(until_ns, UINT64_MAX);
}

TEST(KernelPartTest, LaunchesOfPartsWithoutCountersAreNotThoseOfTheOthers) {
  const auto long_ones = WholeKernel({Counted(2, 3, 140'000, UINT64_MAX)});
  ASSERT_EQ(long_ones.size(), 2u);
  ExpectToTile(long_ones);
  EXPECT_FALSE(long_ones[0].counters[METRIC_DRAM_READ_BYTES].has_value());
  EXPECT_TRUE(long_ones[1].counters[METRIC_DRAM_READ_BYTES].has_value());
  EXPECT_EQ(long_ones[0].part, 0u);

  const auto short_ones = WholeKernel({Counted(0, 2, 0, 30'000)});
  ASSERT_EQ(short_ones.size(), 2u);
  ExpectToTile(short_ones);
  EXPECT_FALSE(short_ones[1].counters[METRIC_DRAM_READ_BYTES].has_value());
  EXPECT_EQ(short_ones[1].part, 1u);
}

TEST(KernelPartTest, AHoleBetweenPartsIsAPart) {
  const auto parts = WholeKernel({Counted(3, 4, 90'000, UINT64_MAX), Counted(0, 4, 0, 20'000)});
  ASSERT_EQ(parts.size(), 3u);
  ExpectToTile(parts);
  EXPECT_EQ(parts[1].part, 1u);
  EXPECT_FALSE(parts[1].counters[METRIC_DRAM_READ_BYTES].has_value());
}

TEST(KernelPartTest, WholeKernelsStayAsTheyAre) {
  EXPECT_EQ(WholeKernel({Counted(0, 1, 0, UINT64_MAX)}).size(), 1u);
  EXPECT_EQ(WholeKernel({Counted(0, 2, 0, 9), Counted(1, 2, 9, UINT64_MAX)}).size(), 2u);
  EXPECT_TRUE(WholeKernel({}).empty());
}

}  // namespace
}  // namespace utlz
