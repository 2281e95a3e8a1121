// What the agent writes, the collector reads: the encoder against the product's own decoder.

#include "inject/record/launch_encoder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "collector/decode/launch_decoder.h"

namespace utlz::agent {
namespace {

class LaunchEncoderTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(strings_.Create());
    ASSERT_TRUE(variants_.Create(&strings_));
    ASSERT_TRUE(encoder_.Create(&variants_, true));
    memory_.resize(8 << 20);
    cupti::KernelRecord record;
    std::memset(&record, 0, sizeof record);
    record.name = "kernel";
    for (int i = 0; i < 300; ++i) {
      record.grid_x = i + 1;
      ids_.push_back(variants_.Find(record));
    }
  }

  std::string Finish() {
    ByteBuffer message(memory_.data(), static_cast<uint32_t>(memory_.size()));
    encoder_.Finish(&message);
    EXPECT_FALSE(message.overflowed());
    return {reinterpret_cast<const char*>(message.data()), message.size()};
  }

  void ExpectRoundTrip(const std::vector<Launch>& launches) {
    for (const Launch& launch : launches) encoder_.Add(launch);
    const std::string message = Finish();
    LaunchDecoder decoder;
    const DecodedLaunches* decoded = decoder.Decode(message);
    ASSERT_NE(decoded, nullptr);
    ASSERT_EQ(decoded->launches.size(), launches.size());
    size_t index = 0;
    for (const LaunchSegment& segment : decoded->segments) {
      for (uint32_t i = 0; i < segment.launches; ++i, ++index) {
        ASSERT_EQ(decoded->launches[index].start_ns, launches[index].start_ns) << index;
        ASSERT_EQ(decoded->launches[index].end_ns, launches[index].end_ns) << index;
        ASSERT_EQ(decoded->launches[index].variant, launches[index].variant) << index;
        ASSERT_EQ(decoded->launches[index].correlation, launches[index].correlation) << index;
        ASSERT_EQ(segment.stream, launches[index].stream);
        ASSERT_EQ(segment.context, launches[index].context);
        ASSERT_EQ(segment.graph_correlation, launches[index].graph_launch);
      }
    }
    EXPECT_EQ(index, launches.size());
  }

  StringTable strings_;
  VariantTable variants_;
  LaunchEncoder encoder_;
  std::vector<uint8_t> memory_;
  std::vector<uint32_t> ids_;
};

TEST_F(LaunchEncoderTest, ComesBackFromTheCollectorsDecoder) {
  std::mt19937 random(1);
  for (int batch = 0; batch < 20; ++batch) {
    std::vector<Launch> launches;
    uint64_t now_ns = 1795217167097298857u;
    for (int i = 0; i < 2000; ++i) {
      Launch launch{};
      launch.variant = ids_[random() % (batch < 10 ? 5 : ids_.size())];
      // Streams interleave, so a launch may begin before the one before it ended.
      launch.start_ns = now_ns + random() % 20000 - 5000;
      launch.end_ns = launch.start_ns + random() % 100000;
      launch.stream = static_cast<uint32_t>(7 + random() % 3);
      launch.context = static_cast<uint32_t>(1 + random() % 2);
      launch.graph_launch = random() % 4 == 0 ? static_cast<uint32_t>(random()) : 0;
      launch.correlation = static_cast<uint32_t>(random());
      now_ns = launch.end_ns;
      launches.push_back(launch);
    }
    ExpectRoundTrip(launches);
  }
}

TEST_F(LaunchEncoderTest, OneLaunch) { ExpectRoundTrip({{ids_[3], 1000, 1000, 0, 0, 0, 0}}); }

TEST_F(LaunchEncoderTest, KeepsTimesThatRunBackwards) {
  ExpectRoundTrip({{ids_[0], 5000, 6000, 1, 1, 0, 1}, {ids_[0], 100, 200, 1, 1, 0, 2}});
}

TEST_F(LaunchEncoderTest, KeepsResidualsOfEveryLength) {
  std::vector<Launch> launches;
  uint64_t now_ns = uint64_t{1} << 61;
  for (int bits = 0; bits < 56; ++bits) {
    for (const int off : {-1, 0, 1}) {
      const uint64_t duration_ns = (uint64_t{1} << bits) + static_cast<uint64_t>(off);
      launches.push_back({ids_[0], now_ns, now_ns + duration_ns, 7, 1, 0, 1});
      launches.push_back({ids_[0], now_ns, now_ns, 7, 1, 0, 1});
      now_ns += duration_ns;
    }
  }
  ExpectRoundTrip(launches);
}

TEST_F(LaunchEncoderTest, CountsUntimedLaunches) {
  encoder_.AddUntimed(ids_[1]);
  encoder_.AddUntimed(ids_[1]);
  encoder_.AddUntimedOperations(1);
  encoder_.Add({ids_[0], 5, 9, 1, 1, 0, 1});
  LaunchDecoder decoder;
  const DecodedLaunches* decoded = decoder.Decode(Finish());
  ASSERT_NE(decoded, nullptr);
  uint32_t untimed = 0;
  for (const auto& entry : decoded->untimed) untimed += entry.launches;
  EXPECT_EQ(untimed, 2u);
  EXPECT_EQ(decoded->untimed_operations, 1u);
  EXPECT_EQ(decoded->launches.size(), 1u);
}

TEST_F(LaunchEncoderTest, AReplayedGraphTakesFewBytes) {
  constexpr int kNodes = 100, kReplays = 20;
  uint64_t now_ns = 1795217167097298857u;
  for (int replay = 0; replay < kReplays; ++replay) {
    for (int node = 0; node < kNodes; ++node) {
      const uint64_t start_ns = now_ns + 900 + static_cast<uint64_t>(replay % 3);
      now_ns = start_ns + 4000 + static_cast<uint64_t>(node) * 32;
      encoder_.Add({ids_[static_cast<size_t>(node)], start_ns, now_ns, 7, 1,
                    static_cast<uint32_t>(1000 + replay), static_cast<uint32_t>(1000 + replay)});
    }
  }
  EXPECT_LT(Finish().size(), 4u * kNodes * kReplays);
}

}  // namespace
}  // namespace utlz::agent
