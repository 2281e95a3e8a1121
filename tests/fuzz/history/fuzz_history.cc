// What a segment of the history may hold, up to the report: a header of ours and any bytes, and the
// same bytes as an interval in a frame that checks.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "collector/history/history_trends.h"
#include "collector/history/segment_scan.h"
#include "proto/frame.h"
#include "proto/history_file.h"
#include "tools/history_report/history_text.h"

namespace utlz {
namespace {

std::string Head() {
  HistoryFileHeader head = {};
  std::memcpy(head.magic, kHistoryMagic, sizeof(head.magic));
  head.version = kHistoryVersion;
  return std::string(reinterpret_cast<const char*>(&head), sizeof(head));
}

std::string Framed(std::string_view payload) {
  FrameHeader header = {};
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  header.type = kHistoryIntervalFrame;
  header.checksum = FrameChecksum(header, payload.data());
  std::string frame(reinterpret_cast<const char*>(&header), sizeof(header));
  frame.append(payload);
  frame.resize(FrameBytes(header.payload_bytes), '\0');
  return frame;
}

void Read(const std::string& segment) {
  HistoryTrends trends(0, uint64_t{1} << 61);
  const SegmentScan scan =
      ScanSegment(segment, [&](const HistoryInterval& interval) { trends.Add(interval); });
  if (scan.whole_bytes > segment.size() || scan.unreadable_bytes > segment.size()) std::abort();
  const HistoryReport report = trends.Finish(scan.unreadable_bytes);
  const std::string text = RenderHistory(report, {});
  if (text.find('\x1b') != std::string::npos) std::abort();
  RenderHistoryJson(report);
}

}  // namespace
}  // namespace utlz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  utlz::Read(utlz::Head() + std::string(text));
  utlz::Read(utlz::Head() + utlz::Framed(text) + utlz::Framed(text));
  return 0;
}
