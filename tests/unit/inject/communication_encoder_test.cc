// What the agent writes of calls into a communication library, as the collector's messages read it.
#include "inject/record/communication_encoder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kNow = 1'795'312'080'000'000'000;

class CommunicationEncoderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(strings_.Create());
    ASSERT_TRUE(encoder_.Create(&strings_));
  }

  CommunicationCallBatch Finish(uint64_t lost = 0) {
    std::vector<uint8_t> memory(1 << 20);
    ByteBuffer message(memory.data(), static_cast<uint32_t>(memory.size()));
    encoder_.Finish(lost, &message);
    EXPECT_FALSE(message.overflowed());
    CommunicationCallBatch batch;
    EXPECT_TRUE(batch.ParseFromArray(message.data(), static_cast<int>(message.size())));
    return batch;
  }

  template <typename Column>
  static std::vector<int64_t> Values(const Column& column) {
    return {column.begin(), column.end()};
  }

  StringTable strings_;
  CommunicationEncoder encoder_;
};

TEST_F(CommunicationEncoderTest, EachCallIsARowOfEveryColumn) {
  // Number 5 of the watched names is empty here: none was registered.
  encoder_.Add({kNow, 77, 5, {.bytes = 0, .communicator = 9, .ranks = 0, .has_bytes = true}});
  encoder_.Add({kNow + 40, 78, 0, {.bytes = 3, .communicator = 0, .ranks = 4, .has_bytes = false}});
  encoder_.Add({kNow + 10, 77, 0, {.bytes = 99, .communicator = 0, .ranks = 0, .has_bytes = true}});
  EXPECT_EQ(encoder_.calls(), 3u);
  const CommunicationCallBatch batch = Finish(6);
  EXPECT_EQ(batch.base_ns(), kNow);
  EXPECT_EQ(Values(batch.time_delta_ns()), (std::vector<int64_t>{0, 40, -30}));
  EXPECT_EQ(Values(batch.thread()), (std::vector<int64_t>{77, 78, 77}));
  EXPECT_EQ(Values(batch.function()), (std::vector<int64_t>{1 + strings_.Intern(""), 0, 0}));
  EXPECT_EQ(Values(batch.bytes()), (std::vector<int64_t>{1, 0, 100}))
      << "a message of no bytes is told, one that is not told is none";
  EXPECT_EQ(Values(batch.communicator()), (std::vector<int64_t>{9, 0, 0}));
  EXPECT_EQ(Values(batch.ranks()), (std::vector<int64_t>{0, 4, 0}));
  EXPECT_EQ(batch.lost(), 6u);
}

TEST_F(CommunicationEncoderTest, ABatchKnowsNothingOfTheOneBefore) {
  encoder_.Add({kNow, 77, 0, {}});
  Finish(1);
  EXPECT_TRUE(encoder_.Empty());
  encoder_.Add({kNow + 500, 78, 0, {}});
  const CommunicationCallBatch batch = Finish();
  EXPECT_EQ(batch.base_ns(), kNow + 500);
  EXPECT_EQ(Values(batch.time_delta_ns()), (std::vector<int64_t>{0}));
  EXPECT_EQ(Values(batch.thread()), (std::vector<int64_t>{78}));
  EXPECT_EQ(batch.lost(), 0u);
}

TEST_F(CommunicationEncoderTest, HoldsAsManyAsItSaysOfTheLargestValues) {
  while (!encoder_.Full()) {
    const bool odd = encoder_.calls() % 2 != 0;
    encoder_.Add({odd ? uint64_t{1} << 63 : 0,
                  UINT32_MAX,
                  0,
                  {.bytes = UINT64_MAX - 1,
                   .communicator = UINT64_MAX,
                   .ranks = UINT32_MAX,
                   .has_bytes = true}});
  }
  const CommunicationCallBatch batch = Finish();
  ASSERT_EQ(batch.bytes_size(), static_cast<int>(CommunicationEncoder::kMaxCalls));
  EXPECT_EQ(batch.ranks_size(), batch.bytes_size());
  EXPECT_EQ(batch.bytes(batch.bytes_size() - 1), UINT64_MAX);
  EXPECT_EQ(batch.time_delta_ns_size(), batch.bytes_size());
}

}  // namespace
}  // namespace utlz::agent
