// The segments in a folder of the history. Functions only; any thread.
#ifndef UTLZ_COLLECTOR_HISTORY_HISTORY_FILES_H_
#define UTLZ_COLLECTOR_HISTORY_HISTORY_FILES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace utlz {

std::string SegmentName(uint64_t number);
std::optional<uint64_t> SegmentNumber(std::string_view name);

// Numbers of all segments, in ascending order. Errors as the kernel says.
absl::StatusOr<std::vector<uint64_t>> ListSegments(int folder);

// The whole of a segment that is no longer than one may be, from a regular file.
absl::StatusOr<std::string> ReadSegment(int file);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_HISTORY_HISTORY_FILES_H_
