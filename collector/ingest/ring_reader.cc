#include "collector/ingest/ring_reader.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "proto/frame.h"
#include "proto/profile.pb.h"

namespace utlz {
namespace {

constexpr uint64_t kFrameAlignment = 8;

// Of an agent's padding, at most one frame stands before the next frame that is none.
constexpr int kMostPadding = 64;

// The last type that agents may use; those above belong to the sampler and the collector.
constexpr uint16_t kLastAgentType = FRAME_METRIC_SET - 1;

}  // namespace

RingReader::RingReader(RingMapping ring) : ring_(std::move(ring)) {}

RingState RingReader::Next(RingFrame* frame) {
  if (!broken_rule_.empty()) return RingState::kBroken;
  // A producer can publish padding as fast as it is read.
  for (int padding = 0; padding < kMostPadding; ++padding) {
    if (read_position_ == write_position_) {
      const uint64_t position =
          ring_.header().producer.write_position.load(std::memory_order_acquire);
      // Unsigned: a position that goes backwards is far ahead.
      if (position - read_position_ > ring_.data_bytes()) return Break("write position");
      if (position % kFrameAlignment != 0) return Break("alignment of the write position");
      write_position_ = position;
      if (read_position_ == write_position_) return RingState::kEmpty;
    }
    const uint64_t place = read_position_ % ring_.data_bytes();
    const uint64_t published = write_position_ - read_position_;
    const uint64_t to_end = ring_.data_bytes() - place;
    FrameHeader header;
    if (to_end < sizeof(header)) {  // no room even for a padding frame
      if (published < to_end) return Break("frame across the end of the ring");
      Consume(to_end);
      continue;
    }
    if (published < sizeof(header)) return Break("frame shorter than its header");
    std::memcpy(&header, ring_.data() + place, sizeof(header));
    if (header.payload_bytes > kMaxFramePayloadBytes) return Break("size of a frame");
    const uint64_t frame_bytes = FrameBytes(header.payload_bytes);
    if (frame_bytes > published) return Break("frame beyond the write position");
    if (frame_bytes > to_end) return Break("frame across the end of the ring");
    if (header.type == FRAME_PADDING) {
      Consume(frame_bytes);
      continue;
    }
    if (header.type > kLastAgentType) return Break("type of a frame");
    if (header.flags != 0) return Break("flags of a frame");
    payload_.assign(ring_.data() + place + sizeof(header), header.payload_bytes);
    if (FrameChecksum(header, payload_.data()) != header.checksum) {
      return Break("checksum of a frame");
    }
    Consume(frame_bytes);
    ++frames_;
    frame->type = header.type;
    frame->payload = payload_;
    return RingState::kFrame;
  }
  return RingState::kPadding;
}

RingState RingReader::Break(std::string_view rule) {
  broken_rule_ = rule;
  return RingState::kBroken;
}

void RingReader::Consume(uint64_t bytes) {
  read_position_ += bytes;
  ring_.header().consumer.read_position.store(read_position_, std::memory_order_release);
}

}  // namespace utlz
