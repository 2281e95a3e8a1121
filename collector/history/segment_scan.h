// Finds the whole frames of a segment of the history (proto/history_file.h), trusting nothing in
// it. Pure, thread-safe.
#ifndef UTLZ_COLLECTOR_HISTORY_SEGMENT_SCAN_H_
#define UTLZ_COLLECTOR_HISTORY_SEGMENT_SCAN_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "proto/history.pb.h"

namespace utlz {

struct SegmentScan {
  bool is_segment = false;      // of a version that we know
  uint64_t whole_bytes = 0;     // up to the end of the last frame that checks
  uint64_t unreadable_bytes = 0;  // that belong to no such frame
};

// `segment` is a whole file. Frames that do not check are skipped, as are those of types that we do
// not know.
SegmentScan ScanSegment(std::string_view segment,
                        const std::function<void(const HistoryInterval& interval)>& sink);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_HISTORY_SEGMENT_SCAN_H_
