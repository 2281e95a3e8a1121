// Reads a history back, trusting nothing in it, also while others write it. Functions only.
#ifndef UTLZ_COLLECTOR_HISTORY_HISTORY_READER_H_
#define UTLZ_COLLECTOR_HISTORY_HISTORY_READER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "proto/history.pb.h"

namespace utlz {

struct HistoryReading {
  uint64_t segments = 0;
  uint64_t unreadable_segments = 0;  // of a newer release, or none at all
  uint64_t unreadable_bytes = 0;     // in the others
};

// Every interval, in the order in which segments were begun. One segment is in memory at a time.
// NotFound: there is no such folder. Others as the kernel says.
absl::StatusOr<HistoryReading> ReadHistory(
    const std::string& folder, const std::function<void(const HistoryInterval& interval)>& sink);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_HISTORY_HISTORY_READER_H_
