#include "collector/gpu_uuid.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

constexpr char kText[] = "GPU-00112233-4455-6677-8899-aabbccddeeff";

TEST(GpuUuidTest, TextAndBytesAreEachOthers) {
  const auto bytes = ParseGpuUuid(kText);
  ASSERT_TRUE(bytes.has_value());
  ASSERT_EQ(bytes->size(), kGpuUuidBytes);
  EXPECT_EQ(bytes->front(), '\0');
  EXPECT_EQ(bytes->back(), '\xff');
  EXPECT_EQ(FormatGpuUuid(*bytes), kText);
}

TEST(GpuUuidTest, OtherLengthsHaveNoText) {
  EXPECT_EQ(FormatGpuUuid(""), "");
  EXPECT_EQ(FormatGpuUuid(std::string(15, 'a')), "");
  EXPECT_EQ(FormatGpuUuid(std::string(17, 'a')), "");
}

TEST(GpuUuidTest, OnlyTextOfTheWholeFormIsRead) {
  EXPECT_FALSE(ParseGpuUuid("").has_value());
  EXPECT_FALSE(ParseGpuUuid("MIG-00112233-4455-6677-8899-aabbccddeeff").has_value());
  EXPECT_FALSE(ParseGpuUuid("GPU-00112233-4455-6677-8899-aabbccddee").has_value());
  EXPECT_FALSE(ParseGpuUuid("GPU-00112233-4455-6677-8899-aabbccddeeff00").has_value());
  EXPECT_FALSE(ParseGpuUuid("GPU-0011223344556677-8899-aabbccddeeff").has_value());
  EXPECT_FALSE(ParseGpuUuid("GPU-0011223x-4455-6677-8899-aabbccddeeff").has_value());
}

}  // namespace
}  // namespace utlz
