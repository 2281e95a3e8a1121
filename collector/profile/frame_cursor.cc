#include "collector/profile/frame_cursor.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "collector/profile/payload_codec.h"
#include "proto/frame.h"

namespace utlz {
namespace {

constexpr uint64_t kWindowBytes = 1 << 20;
constexpr uint64_t kFrameAlignment = 8;
// A file can be made so that each of its offsets looks like a long frame. Searching it is given up
// after this much work, plus a multiple of its size.
constexpr uint64_t kSearchFloorBytes = 64 << 20;
constexpr uint64_t kSearchFactor = 4;
// Some hundred bytes of zstd can announce 16 MiB. Payloads are refused once those of the file have
// come to this much, plus a multiple of its size that no real profile comes near.
constexpr uint64_t kExpansionFloorBytes = 64 << 20;
constexpr uint64_t kExpansionFactor = 100;

}  // namespace

FrameCursor::FrameCursor(int fd, uint64_t begin, uint64_t end)
    : fd_(fd), position_(begin), end_(std::max(begin, end)) {}

bool FrameCursor::Next(FrameView* frame) {
  while (position_ < end_) {
    uint64_t frame_bytes = 0;
    const Check check = CheckAt(position_, frame, &frame_bytes);
    if (check == Check::kWhole) {
      position_ += frame_bytes;
      return true;
    }
    Resynchronize();
    // A frame that the end of the file cuts is no damage: it was being written.
    if (check == Check::kWrong || position_ < end_) ++refused_frames_;
  }
  return false;
}

bool FrameCursor::NextOfType(uint16_t type, FrameView* frame) {
  wanted_type_ = type;
  while (Next(frame)) {
    if (frame->type == type) return true;
  }
  return false;
}

bool FrameCursor::At(uint64_t offset, FrameView* frame) {
  uint64_t frame_bytes = 0;
  if (offset >= end_ || CheckAt(offset, frame, &frame_bytes) != Check::kWhole) return false;
  position_ = offset + frame_bytes;
  return true;
}

FrameCursor::Check FrameCursor::CheckAt(uint64_t offset, FrameView* frame, uint64_t* frame_bytes) {
  FrameHeader header;
  if (end_ - offset < sizeof(header)) return Check::kBeyondEnd;
  const char* bytes = Peek(offset, sizeof(header));
  if (bytes == nullptr) return Check::kBeyondEnd;
  std::memcpy(&header, bytes, sizeof(header));
  if (header.payload_bytes > kMaxFramePayloadBytes) return Check::kWrong;
  if ((header.flags & ~kFrameCompressed) != 0) return Check::kWrong;
  *frame_bytes = FrameBytes(header.payload_bytes);
  if (*frame_bytes > end_ - offset) return Check::kBeyondEnd;
  bytes = Peek(offset, *frame_bytes);
  if (bytes == nullptr) return Check::kBeyondEnd;
  const char* payload = bytes + sizeof(header);
  work_bytes_ += header.payload_bytes;
  if (FrameChecksum(header, payload) != header.checksum) return Check::kWrong;
  frame->payload = std::string_view(payload, header.payload_bytes);
  const bool wanted = !wanted_type_.has_value() || *wanted_type_ == header.type;
  if (wanted && (header.flags & kFrameCompressed) != 0) {
    if (expanded_bytes_ > kExpansionFloorBytes + kExpansionFactor * end_ ||
        !DecompressPayload(frame->payload, &decompressed_)) {
      return Check::kWrong;
    }
    expanded_bytes_ += decompressed_.size();
    frame->payload = decompressed_;
  }
  frame->source = header.source;
  frame->type = header.type;
  frame->offset = offset;
  return Check::kWhole;
}

void FrameCursor::Resynchronize() {
  if (!resynchronization_limit_bytes_) {
    resynchronization_limit_bytes_ = work_bytes_ + kSearchFloorBytes + kSearchFactor * end_;
  }
  const uint64_t begin = position_;
  FrameView ignored;
  uint64_t ignored_bytes = 0;
  do {
    position_ += kFrameAlignment;
    if (work_bytes_ > *resynchronization_limit_bytes_) position_ = end_;
  } while (position_ < end_ && CheckAt(position_, &ignored, &ignored_bytes) != Check::kWhole);
  position_ = std::min(position_, end_);
  unreadable_bytes_ += position_ - begin;
}

const char* FrameCursor::Peek(uint64_t offset, uint64_t bytes) {
  if (offset < window_offset_ || offset + bytes > window_offset_ + window_.size()) {
    const uint64_t wanted = std::min(std::max(bytes, kWindowBytes), end_ - offset);
    window_.resize(wanted);
    window_offset_ = offset;
    uint64_t done = 0;
    while (done < wanted) {
      const ssize_t count =
          pread(fd_, window_.data() + done, wanted - done, static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      done += static_cast<uint64_t>(count);
    }
    window_.resize(done);
    work_bytes_ += done;
    if (done < bytes) return nullptr;
  }
  return window_.data() + (offset - window_offset_);
}

}  // namespace utlz
