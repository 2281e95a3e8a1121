#include "collector/ingest/ring_reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "proto/profile.pb.h"
#include "tests/support/test_ring.h"

namespace utlz {
namespace {

RingReader ReaderOf(const TestRing& ring) {
  absl::StatusOr<RingMapping> mapping = RingMapping::Map(ring.fd(), ring.bytes());
  EXPECT_TRUE(mapping.ok()) << mapping.status();
  return RingReader(*std::move(mapping));
}

TEST(RingReader, ReadsFramesAcrossTheEndAndGivesTheirRoomBack) {
  TestRing ring;
  RingReader reader = ReaderOf(ring);
  std::mt19937 random(3);
  RingFrame frame;
  for (uint32_t i = 0; i < 2000; ++i) {
    // All lengths of padding, the one without a header included, come up.
    const std::string payload(random() % 3000, static_cast<char>(i));
    ASSERT_TRUE(ring.Write(FRAME_LAUNCHES, payload));
    ASSERT_EQ(reader.Next(&frame), RingState::kFrame);
    EXPECT_EQ(frame.type, FRAME_LAUNCHES);
    ASSERT_EQ(frame.payload, payload);
    ASSERT_EQ(reader.Next(&frame), RingState::kEmpty);
    ASSERT_EQ(ring.read(), ring.written());
  }
  EXPECT_EQ(reader.frames(), 2000u);
}

TEST(RingReader, SeesAFullRing) {
  TestRing ring;
  RingReader reader = ReaderOf(ring);
  int written = 0;
  while (ring.Write(FRAME_COPIES, std::string(1000, 'c'))) ++written;
  EXPECT_GT(written, 60);
  RingFrame frame;
  for (int i = 0; i < written; ++i) ASSERT_EQ(reader.Next(&frame), RingState::kFrame);
  EXPECT_EQ(reader.Next(&frame), RingState::kEmpty);
  EXPECT_TRUE(ring.Write(FRAME_COPIES, "again"));
}

TEST(RingReader, TakesALaterAgentsTypes) {
  TestRing ring;
  RingReader reader = ReaderOf(ring);
  ASSERT_TRUE(ring.Write(30, "unknown"));
  RingFrame frame;
  ASSERT_EQ(reader.Next(&frame), RingState::kFrame);
  EXPECT_EQ(frame.type, 30);
}

// A ring of zeros is a ring of padding.
TEST(RingReader, ReturnsFromARingOfPadding) {
  TestRing ring;
  RingReader reader = ReaderOf(ring);
  ring.Publish(kRingMinDataBytes);
  RingFrame frame;
  ASSERT_EQ(reader.Next(&frame), RingState::kPadding);
  EXPECT_LT(ring.read(), ring.written());
  while (reader.Next(&frame) == RingState::kPadding) {
  }
  EXPECT_EQ(ring.read(), ring.written());
  ASSERT_TRUE(ring.Write(FRAME_LAUNCHES, "after it"));
  ASSERT_EQ(reader.Next(&frame), RingState::kFrame);
  EXPECT_EQ(frame.payload, "after it");
}

// A producer that has written padding again whenever some was read.
TEST(RingReader, ReturnsWhilePaddingIsPublishedForEver) {
  TestRing ring;
  RingReader reader = ReaderOf(ring);
  std::atomic<bool> over = false;
  std::thread producer([&] {
    while (!over) ring.Publish(ring.read() + kRingMinDataBytes);
  });
  RingFrame frame;
  for (int i = 0; i < 1000; ++i) EXPECT_NE(reader.Next(&frame), RingState::kFrame);
  over = true;
  producer.join();
}

// Frames written by another thread while this one reads: order, content and room.
TEST(RingReader, KeepsUpWithAProducerOnAnotherThread) {
  TestRing ring;
  RingReader reader = ReaderOf(ring);
  constexpr uint32_t kFrames = 20'000;
  std::thread producer([&ring] {
    for (uint32_t i = 0; i < kFrames;) {
      const std::string payload(i % 997, static_cast<char>(i));
      if (ring.Write(FRAME_LAUNCHES, payload)) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  RingFrame frame;
  for (uint32_t i = 0; i < kFrames;) {
    const RingState state = reader.Next(&frame);
    ASSERT_NE(state, RingState::kBroken) << reader.broken_rule();
    if (state == RingState::kEmpty) {
      std::this_thread::yield();
      continue;
    }
    EXPECT_EQ(frame.payload, std::string(i % 997, static_cast<char>(i)));
    ++i;
  }
  producer.join();
}

// What a hostile producer may do, and the rule that it breaks by it.
struct Deed {
  const char* name;
  const char* rule;
  void (*act)(TestRing* ring);
};

void PutHeader(TestRing* ring, const FrameHeader& header, uint64_t published) {
  ring->Put(ring->written(), &header, sizeof(header));
  ring->Publish(ring->written() + published);
}

const std::vector<Deed>& Deeds() {
  static const auto* const deeds = new std::vector<Deed>{
      {"position backwards", "write position",
       [](TestRing* ring) { ring->Publish(ring->written() - 8); }},
      {"position far ahead", "write position",
       [](TestRing* ring) { ring->Publish(uint64_t{1} << 63); }},
      {"position past the ring", "write position",
       [](TestRing* ring) { ring->Publish(ring->read() + kRingMinDataBytes + 8); }},
      {"position between frames", "alignment of the write position",
       [](TestRing* ring) { ring->Publish(ring->written() + 3); }},
      {"half a header", "frame shorter than its header",
       [](TestRing* ring) { ring->Publish(ring->written() + 8); }},
      {"frame of 4 GiB", "size of a frame",
       [](TestRing* ring) {
         PutHeader(ring, {0xffffffff, FRAME_COPIES, 0, 0, 0}, 4096);
       }},
      {"frame longer than published", "frame beyond the write position",
       [](TestRing* ring) {
         PutHeader(ring, {1000, FRAME_COPIES, 0, 0, 0}, 64);
       }},
      {"padding longer than published", "frame beyond the write position",
       [](TestRing* ring) {
         PutHeader(ring, {1000, FRAME_PADDING, 0, 0, 0}, 64);
       }},
      {"frame across the end", "frame across the end of the ring",
       [](TestRing* ring) {
         constexpr uint32_t kHeaderBytes = sizeof(FrameHeader);
         const auto to_end = static_cast<uint32_t>(kRingMinDataBytes - ring->written());
         PutHeader(ring, {to_end - 1000 - kHeaderBytes, FRAME_PADDING, 0, 0, 0}, to_end - 1000);
         // As long as what the reader has freed allows: 8 bytes of it lie at the ring's beginning.
         PutHeader(ring, {1008 - kHeaderBytes, FRAME_COPIES, 0, 0, 0}, 1008);
       }},
      {"wrong checksum", "checksum of a frame",
       [](TestRing* ring) {
         PutHeader(ring, {8, FRAME_COPIES, 0, 0, 12345}, 24);
       }},
      {"type of the sampler", "type of a frame",
       [](TestRing* ring) { ring->Write(FRAME_SAMPLES, "forged"); }},
      {"type of the collector", "type of a frame",
       [](TestRing* ring) { ring->Write(FRAME_RUN_END, "forged"); }},
      {"compressed", "flags of a frame",
       [](TestRing* ring) {
         FrameHeader header = {0, FRAME_COPIES, kFrameCompressed, 0, 0};
         header.checksum = FrameChecksum(header, "");
         PutHeader(ring, header, 16);
       }},
  };
  return *deeds;
}

TEST(RingReader, DropsABrokenProducerForGoodAndKeepsWhatCameBefore) {
  for (const Deed& deed : Deeds()) {
    SCOPED_TRACE(deed.name);
    TestRing ring;
    RingReader reader = ReaderOf(ring);
    ASSERT_TRUE(ring.Write(FRAME_LAUNCHES, "before"));
    RingFrame frame;
    ASSERT_EQ(reader.Next(&frame), RingState::kFrame);
    EXPECT_EQ(frame.payload, "before");
    deed.act(&ring);
    EXPECT_EQ(reader.Next(&frame), RingState::kBroken);
    EXPECT_EQ(reader.broken_rule(), deed.rule);
    ring.Publish(ring.read());
    ring.Write(FRAME_LAUNCHES, "after");
    EXPECT_EQ(reader.Next(&frame), RingState::kBroken);
  }
}

TEST(RingReader, DoesNotFollowAReadPositionThatTheProducerChanged) {
  TestRing ring;
  RingReader reader = ReaderOf(ring);
  ASSERT_TRUE(ring.Write(FRAME_LAUNCHES, "one"));
  RingFrame frame;
  ASSERT_EQ(reader.Next(&frame), RingState::kFrame);
  const uint64_t position = ring.read();
  ring.header().consumer.read_position = 0;
  EXPECT_EQ(reader.Next(&frame), RingState::kEmpty);
  ring.header().consumer.read_position = position;
  ASSERT_TRUE(ring.Write(FRAME_LAUNCHES, "two"));
  ASSERT_EQ(reader.Next(&frame), RingState::kFrame);
  EXPECT_EQ(frame.payload, "two");
}

TEST(RingReader, DoesNotFollowASizeThatTheProducerChangedLater) {
  TestRing ring;
  RingReader reader = ReaderOf(ring);
  ring.header().data_bytes = kRingMaxDataBytes;
  ring.Publish(kRingMinDataBytes + 8);
  RingFrame frame;
  EXPECT_EQ(reader.Next(&frame), RingState::kBroken);
}

std::string MapError(const TestRing& ring, uint64_t announced_bytes) {
  const absl::StatusOr<RingMapping> mapping = RingMapping::Map(ring.fd(), announced_bytes);
  return mapping.ok() ? "" : std::string(mapping.status().message());
}

TEST(RingMapping, RefusesWhatCouldFaultOrLie) {
  const TestRing good;
  EXPECT_EQ(MapError(good, good.bytes()), "");
  EXPECT_NE(MapError(good, good.bytes() * 2 - kRingHeaderBytes), "") << "another size";
  EXPECT_NE(MapError(good, 0), "");
  EXPECT_NE(MapError(good, UINT64_MAX), "");

  const TestRing unsealed({.seals = 0});
  EXPECT_NE(MapError(unsealed, unsealed.bytes()).find("sealed"), std::string::npos);
  const TestRing growing_only({.seals = F_SEAL_GROW});
  EXPECT_NE(MapError(growing_only, growing_only.bytes()), "");
  const TestRing odd_size({.data_bytes = kRingMinDataBytes + 4096});
  EXPECT_NE(MapError(odd_size, odd_size.bytes()), "");

  TestRing other_magic;
  other_magic.header().magic ^= 1;
  EXPECT_NE(MapError(other_magic, other_magic.bytes()), "");
  TestRing other_size;
  other_size.header().data_bytes *= 2;
  EXPECT_NE(MapError(other_size, other_size.bytes()), "");
  TestRing other_version;
  ++other_version.header().abi_version;
  EXPECT_NE(MapError(other_version, other_version.bytes()), "");

  const UniqueFd plain_file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_NE(RingMapping::Map(plain_file.get(), good.bytes()).status().message().find("memory file"),
            absl::string_view::npos);
  EXPECT_FALSE(RingMapping::Map(-1, good.bytes()).ok());
}

}  // namespace
}  // namespace utlz
