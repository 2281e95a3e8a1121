// A segment of the history: HistoryFileHeader, then frames (proto/frame.h) whose payload is one
// HistoryInterval, uncompressed. A frame that was cut off by a crash does not check, and what
// follows the last one that does is no part of the segment.
//
// Segments are named by a number that only grows, whatever the clock says: "0000000001.utlzh".
#ifndef UTLZ_PROTO_HISTORY_FILE_H_
#define UTLZ_PROTO_HISTORY_FILE_H_

#include <cstdint>

namespace utlz {

struct HistoryFileHeader {
  char magic[8];     // kHistoryMagic
  uint32_t version;  // kHistoryVersion; readers leave newer ones out
  uint32_t reserved;
};
static_assert(sizeof(HistoryFileHeader) == 16);
inline constexpr char kHistoryMagic[8] = {'U', 'T', 'L', 'Z', 'H', 'I', 'S', '\n'};
inline constexpr uint32_t kHistoryVersion = 1;
inline constexpr uint16_t kHistoryIntervalFrame = 1;
inline constexpr uint32_t kMaxHistoryPayloadBytes = 256u << 10;
inline constexpr uint64_t kMaxHistorySegmentBytes = 64u << 20;
inline constexpr char kHistorySuffix[] = ".utlzh";

}  // namespace utlz

#endif  // UTLZ_PROTO_HISTORY_FILE_H_
