#include "collector/history/segment_scan.h"

#include <cstring>
#include <optional>

#include "proto/frame.h"
#include "proto/history_file.h"

namespace utlz {
namespace {

constexpr uint64_t kStep = 8;  // at multiples of which frames begin

// The payload of the frame that begins `bytes`, if one does.
std::optional<std::string_view> PayloadOf(std::string_view bytes, uint16_t* type) {
  FrameHeader header;
  if (bytes.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.payload_bytes > kMaxHistoryPayloadBytes || header.flags != 0 ||
      FrameBytes(header.payload_bytes) > bytes.size()) {
    return std::nullopt;
  }
  const std::string_view payload = bytes.substr(sizeof(header), header.payload_bytes);
  if (FrameChecksum(header, payload.data()) != header.checksum) return std::nullopt;
  *type = header.type;
  return payload;
}

}  // namespace

SegmentScan ScanSegment(std::string_view segment,
                        const std::function<void(const HistoryInterval& interval)>& sink) {
  SegmentScan scan;
  HistoryFileHeader head;
  if (segment.size() < sizeof(head)) return scan;
  std::memcpy(&head, segment.data(), sizeof(head));
  scan.is_segment = std::memcmp(head.magic, kHistoryMagic, sizeof(kHistoryMagic)) == 0 &&
                    head.version == kHistoryVersion;
  if (!scan.is_segment) return scan;
  uint64_t framed_bytes = 0;
  scan.whole_bytes = sizeof(head);
  for (uint64_t at = sizeof(head); at < segment.size();) {
    uint16_t type = 0;
    const auto payload = PayloadOf(segment.substr(at), &type);
    if (!payload) {
      at += kStep;
      continue;
    }
    const uint64_t frame_bytes = FrameBytes(static_cast<uint32_t>(payload->size()));
    at += frame_bytes;
    HistoryInterval interval;
    const bool reads = type != kHistoryIntervalFrame ||
                       interval.ParseFromArray(payload->data(), static_cast<int>(payload->size()));
    if (!reads) continue;
    scan.whole_bytes = at;
    framed_bytes += frame_bytes;
    if (type == kHistoryIntervalFrame) sink(interval);
  }
  scan.unreadable_bytes = segment.size() - sizeof(head) - framed_bytes;
  return scan;
}

}  // namespace utlz
