#include "collector/sampler/channel/frame_stream.h"

#include <gtest/gtest.h>

#include <vector>

#include "proto/frame.h"

namespace utlz {
namespace {

struct Frame {
  uint16_t type;
  std::string payload;
  friend bool operator==(const Frame&, const Frame&) = default;
};

class FrameStreamTest : public testing::Test {
 protected:
  absl::Status Push(std::string_view bytes) {
    return stream_.Push(bytes, [this](uint16_t type, std::string_view payload) {
      frames_.push_back({type, std::string(payload)});
    });
  }

  FrameStream stream_;
  std::vector<Frame> frames_;
};

TEST_F(FrameStreamTest, CutsWhateverThePiecesAre) {
  std::string bytes;
  AppendFrame(33, "one", &bytes);
  AppendFrame(34, "", &bytes);
  AppendFrame(35, std::string(1000, 'x'), &bytes);
  const std::vector<Frame> expected = {{33, "one"}, {34, ""}, {35, std::string(1000, 'x')}};
  for (size_t piece : {size_t{1}, size_t{7}, size_t{16}, bytes.size()}) {
    FrameStreamTest::frames_.clear();
    for (size_t at = 0; at < bytes.size(); at += piece) {
      ASSERT_TRUE(Push(std::string_view(bytes).substr(at, piece)).ok());
    }
    EXPECT_EQ(frames_, expected) << "pieces of " << piece;
    EXPECT_TRUE(stream_.at_boundary());
  }
}

TEST_F(FrameStreamTest, RefusesADamagedFrame) {
  std::string bytes;
  AppendFrame(33, "good", &bytes);
  const size_t second = bytes.size();
  AppendFrame(33, "bad", &bytes);
  bytes[second + sizeof(FrameHeader)] ^= 1;
  EXPECT_TRUE(absl::IsDataLoss(Push(bytes)));
  EXPECT_EQ(frames_, (std::vector<Frame>{{33, "good"}}));
}

TEST_F(FrameStreamTest, RefusesASizeBeforeTakingMemoryForIt) {
  FrameHeader header{};
  header.payload_bytes = kMaxFramePayloadBytes + 1;
  EXPECT_TRUE(absl::IsDataLoss(
      Push(std::string_view(reinterpret_cast<const char*>(&header), sizeof(header)))));
}

TEST_F(FrameStreamTest, ACutFrameIsNotHandedOn) {
  std::string bytes;
  AppendFrame(33, "payload", &bytes);
  EXPECT_TRUE(Push(std::string_view(bytes).substr(0, bytes.size() - 1)).ok());
  EXPECT_TRUE(frames_.empty());
  EXPECT_FALSE(stream_.at_boundary());
}

}  // namespace
}  // namespace utlz
