// A time before now, as a person writes it: "90s", "30m", "2h", "3d", "2w". Functions only.
#ifndef UTLZ_TOOLS_HISTORY_REPORT_SINCE_H_
#define UTLZ_TOOLS_HISTORY_REPORT_SINCE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace utlz {

// Nanoseconds, more than none and at most ten years; nothing for anything else.
std::optional<uint64_t> ParseSince(std::string_view text);

// A number of bytes with a unit: "64MiB", "1GiB", "500MB"; at most 1 TiB. Nothing for anything
// else.
std::optional<uint64_t> ParseSize(std::string_view text);

}  // namespace utlz

#endif  // UTLZ_TOOLS_HISTORY_REPORT_SINCE_H_
