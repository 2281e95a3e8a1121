// Lines of a gzip-compressed (or plain) text file.
#ifndef UTLZ_TOOLS_ATTRIBUTION_CHECK_GZIP_LINES_H_
#define UTLZ_TOOLS_ATTRIBUTION_CHECK_GZIP_LINES_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace utlz {

// Longer lines are refused, as are more of them: a file of a few megabytes may unpack to anything.
inline constexpr size_t kLongestLine = size_t{1} << 20;
inline constexpr size_t kMostLines = 20'000'000;

// Calls `take` with each line, without its end, and its number from 1, until one of them fails.
// NotFound where the file cannot be opened, DataLoss where it is damaged, ResourceExhausted beyond
// the bounds above.
absl::Status ForEachGzipLine(const std::string& path,
                             const std::function<absl::Status(size_t, absl::string_view)>& take);

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTRIBUTION_CHECK_GZIP_LINES_H_
