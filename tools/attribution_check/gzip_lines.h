// Lines of a gzip-compressed (or plain) text file.
#ifndef UTLZ_TOOLS_ATTRIBUTION_CHECK_GZIP_LINES_H_
#define UTLZ_TOOLS_ATTRIBUTION_CHECK_GZIP_LINES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace utlz {

// NotFound where the file cannot be opened, DataLoss where it is damaged, ResourceExhausted above
// 4 GiB of text. Line ends are removed.
absl::StatusOr<std::vector<std::string>> ReadGzipLines(const std::string& path);

}  // namespace utlz

#endif  // UTLZ_TOOLS_ATTRIBUTION_CHECK_GZIP_LINES_H_
