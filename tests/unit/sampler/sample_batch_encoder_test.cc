#include "collector/sampler/counters/sample_batch_encoder.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace utlz {
namespace {

class SampleBatchEncoderTest : public testing::Test {
 protected:
  void Add(uint64_t start_ns, uint64_t end_ns, double bytes, double cycles) {
    encoder_.Add(start_ns, end_ns, std::array{bytes, cycles});
  }

  SampleBatchEncoder encoder_{7, "uuid", 10'000, {32, 1}};
};

TEST_F(SampleBatchEncoderTest, WritesColumnsOfDeltas) {
  Add(1'000'000, 1'010'000, 320, 17'000);
  Add(1'010'000, 1'019'983, 64, 17'010);
  const SampleBatch batch = encoder_.Take();
  EXPECT_EQ(batch.metric_set(), 7u);
  EXPECT_EQ(batch.device_uuid(), "uuid");
  EXPECT_EQ(batch.base_ns(), 1'000'000u);
  EXPECT_EQ(batch.samples(), 2u);
  ASSERT_EQ(batch.column_size(), 2);
  EXPECT_EQ(batch.column(0).delta(0), 10);
  EXPECT_EQ(batch.column(0).delta(1), -8);
  EXPECT_EQ(batch.column(1).delta(1), 10);
  EXPECT_EQ(batch.interval_residual_ns(0), 0);
  EXPECT_EQ(batch.interval_residual_ns(1), -17);
  EXPECT_EQ(batch.gap_sample_size(), 0);
}

TEST_F(SampleBatchEncoderTest, ListsGaps) {
  Add(1'000'000, 1'010'000, 0, 0);
  Add(1'030'000, 1'040'000, 0, 0);
  const SampleBatch batch = encoder_.Take();
  ASSERT_EQ(batch.gap_sample_size(), 1);
  EXPECT_EQ(batch.gap_sample(0), 1u);
  EXPECT_EQ(batch.gap_ns(0), 20'000);
}

TEST_F(SampleBatchEncoderTest, EveryBatchStandsAlone) {
  encoder_.StartWindow();
  Add(1'000'000, 1'010'000, 320, 5);
  EXPECT_TRUE(encoder_.Take().window_start());
  EXPECT_FALSE(encoder_.has_news());
  Add(1'010'000, 1'020'000, 320, 5);
  const SampleBatch second = encoder_.Take();
  EXPECT_FALSE(second.window_start());
  EXPECT_EQ(second.base_ns(), 1'010'000u);
  EXPECT_EQ(second.column(0).delta(0), 10);
  EXPECT_EQ(second.gap_sample_size(), 0);
}

TEST_F(SampleBatchEncoderTest, CountsWhatCannotBeRightAsLost) {
  Add(0, 10'000, 1, 1);
  Add(20'000, 20'000, 1, 1);
  Add(20'000, 10'000, 1, 1);
  Add(1, 1 + (uint64_t{1} << 40), 1, 1);
  Add(10'000, 20'000, std::nan(""), 1);
  Add(10'000, 20'000, -1, 1);
  Add(10'000, 20'000, 1, std::numeric_limits<double>::infinity());
  Add(10'000, 20'000, 1, 1e30);
  encoder_.Add(10'000, 20'000, std::array{1.0});
  EXPECT_EQ(encoder_.samples(), 0u);
  encoder_.AddLost(3);
  EXPECT_TRUE(encoder_.has_news());
  EXPECT_EQ(encoder_.Take().lost(), 12u);
}

}  // namespace
}  // namespace utlz
