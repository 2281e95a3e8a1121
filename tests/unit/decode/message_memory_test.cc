#include "collector/decode/message_memory.h"

#include <string>

#include "collector/decode/parse.h"
#include "gtest/gtest.h"
#include "proto/summary.pb.h"

namespace utlz {
namespace {

constexpr size_t kMebibyte = 1u << 20;

std::string SummaryOfKernels(int count) {
  Summary summary;
  for (int i = 0; i < count; ++i) summary.add_kernels();
  return summary.SerializeAsString();
}

TEST(MessageMemory, EmptyMessagesTakeWhatTheyDoAsObjects) {
  const std::string payload = SummaryOfKernels(10000);
  Summary summary;
  ASSERT_TRUE(summary.ParseFromString(payload));
  const size_t taken = summary.SpaceUsedLong();
  ASSERT_GT(taken, 100 * payload.size());
  EXPECT_TRUE(FitsInMemory(payload, *Summary::descriptor(), taken));
  EXPECT_FALSE(FitsInMemory(payload, *Summary::descriptor(), taken / 2));
}

TEST(MessageMemory, CountsMessagesInMessages) {
  Summary summary;
  for (int i = 0; i < 100000; ++i) summary.mutable_owners()->add_layers();
  EXPECT_FALSE(FitsInMemory(summary.SerializeAsString(), *Summary::descriptor(), 4 * kMebibyte));
}

TEST(MessageMemory, CountsTextsAndFieldsThatNobodyKnows) {
  std::string unknown;
  for (int i = 0; i < 100000; ++i) unknown += std::string("\xfa\x7f\x00", 3);  // field 2047, empty
  EXPECT_FALSE(FitsInMemory(unknown, *Summary::descriptor(), 2 * kMebibyte));
  Summary summary;
  for (int i = 0; i < 100000; ++i) summary.mutable_run()->add_notices("");
  EXPECT_FALSE(FitsInMemory(summary.SerializeAsString(), *Summary::descriptor(), 2 * kMebibyte));
}

TEST(MessageMemory, PayloadsThatAreNoMessageAreLeftToTheParser) {
  for (const std::string& payload :
       {std::string("\x0a\xff\xff\xff\xff\x7f"), std::string("\x0a"), std::string("\x0b\x0b")}) {
    EXPECT_TRUE(FitsInMemory(payload, *Summary::descriptor(), kMebibyte));
    Summary summary;
    EXPECT_FALSE(ParseWithinMemory(payload, &summary));
  }
}

TEST(MessageMemory, AFrameOfEmptyMessagesIsRefused) {
  Summary summary;
  EXPECT_TRUE(ParseWithinMemory(SummaryOfKernels(1000), &summary));
  EXPECT_FALSE(ParseWithinMemory(SummaryOfKernels(1'000'000), &summary));
}

}  // namespace
}  // namespace utlz
