// Amounts of time and of bytes as people write them, for --since and --history-size. Functions
// only.
#ifndef UTLZ_TOOLS_HISTORY_REPORT_AMOUNTS_H_
#define UTLZ_TOOLS_HISTORY_REPORT_AMOUNTS_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace utlz {

// A time before now, such as "90s", "30m", "2h", "3d" or "2w", in nanoseconds: above zero and at
// most ten years. Nothing for anything else.
std::optional<uint64_t> ParseSince(std::string_view text);

// A number of bytes with a unit: "64MiB", "1GiB", "500MB"; at most 1 TiB. Nothing for anything
// else.
std::optional<uint64_t> ParseSize(std::string_view text);

}  // namespace utlz

#endif  // UTLZ_TOOLS_HISTORY_REPORT_AMOUNTS_H_
