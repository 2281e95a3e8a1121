#include "inject/base/ring_writer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

namespace utlz::agent {
namespace {

// Reads frames as the layout's description says, without the product's reader.
class RingReaderByTheBook {
 public:
  explicit RingReaderByTheBook(RingHeader* header)
      : header_(header), data_(reinterpret_cast<const uint8_t*>(header) + kRingHeaderBytes) {}

  std::vector<std::vector<uint8_t>> Drain() {
    std::vector<std::vector<uint8_t>> payloads;
    const uint64_t size = header_->data_bytes;
    const uint64_t end = header_->producer.write_position.load();
    while (position_ < end) {
      const uint64_t at = position_ % size;
      if (size - at < sizeof(FrameHeader)) {
        position_ += size - at;
        continue;
      }
      FrameHeader frame;
      std::memcpy(&frame, data_ + at, sizeof frame);
      EXPECT_LE(at + FrameBytes(frame.payload_bytes), size) << "a frame was split";
      const uint8_t* payload = data_ + at + sizeof frame;
      if (frame.type != 0) {
        EXPECT_EQ(frame.checksum, FrameChecksum(frame, payload));
        payloads.emplace_back(payload, payload + frame.payload_bytes);
      }
      position_ += FrameBytes(frame.payload_bytes);
    }
    header_->consumer.read_position.store(position_);
    return payloads;
  }

 private:
  RingHeader* header_;
  const uint8_t* data_;
  uint64_t position_ = 0;
};

// Else the kernel would end the program with SIGXFSZ.
TEST(RingWriter, MakesNoFileBeyondTheLimitOfTheProgram) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit low{kRingMinDataBytes, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  RingWriter ring;
  EXPECT_EQ(ring.Create(kRingMinDataBytes), -1);
  setrlimit(RLIMIT_FSIZE, &before);
}

class RingWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    file_ = ring_.Create(kRingMinDataBytes);
    ASSERT_GE(file_, 0);
  }
  void TearDown() override {
    munmap(ring_.header(), kRingHeaderBytes + kRingMinDataBytes);
    close(file_);
  }
  bool Write(uint32_t bytes, uint8_t fill) {
    std::vector<uint8_t> content(bytes, fill);
    std::vector<uint8_t> memory(bytes + 16);
    ByteBuffer payload(memory.data(), static_cast<uint32_t>(memory.size()));
    payload.Raw(content.data(), bytes);
    return ring_.Write(5, payload, 3);
  }

  RingWriter ring_;
  int file_ = -1;
};

TEST_F(RingWriterTest, KeepsEveryFrameWholeAcrossTheEnd) {
  RingReaderByTheBook reader(ring_.header());
  for (uint32_t i = 0; i < 5000; ++i) {
    const uint32_t bytes = i * 37 % 3000;
    ASSERT_TRUE(Write(bytes, static_cast<uint8_t>(i)));
    const auto payloads = reader.Drain();
    ASSERT_EQ(payloads.size(), 1u) << i;
    EXPECT_EQ(payloads[0], std::vector<uint8_t>(bytes, static_cast<uint8_t>(i)));
  }
}

TEST_F(RingWriterTest, CountsWhatFindsNoRoom) {
  while (Write(1000, 1)) {
  }
  EXPECT_EQ(ring_.header()->producer.frames_dropped.load(), 1u);
  EXPECT_EQ(ring_.header()->producer.launches_dropped.load(), 3u);
  RingReaderByTheBook reader(ring_.header());
  EXPECT_EQ(reader.Drain().size(), ring_.frames_written());
  EXPECT_TRUE(Write(1000, 2)) << "room that the reader freed is used again";
}

TEST_F(RingWriterTest, TreatsAnImpossibleReadPositionAsFull) {
  ring_.header()->consumer.read_position.store(uint64_t{1} << 60);
  EXPECT_FALSE(Write(10, 1));
}

TEST_F(RingWriterTest, RefusesAMessageThatDidNotFitItsBuffer) {
  uint8_t memory[4];
  ByteBuffer payload(memory, sizeof memory);
  payload.Varint(1);
  ASSERT_TRUE(payload.overflowed());
  EXPECT_FALSE(ring_.Write(5, payload));
}

TEST_F(RingWriterTest, CannotBeShrunkUnderTheReader) { EXPECT_NE(ftruncate(file_, 4096), 0); }

}  // namespace
}  // namespace utlz::agent
