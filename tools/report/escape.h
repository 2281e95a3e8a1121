// Makes text of unknown origin safe and plain to show in a terminal.
#ifndef UTLZ_TOOLS_REPORT_ESCAPE_H_
#define UTLZ_TOOLS_REPORT_ESCAPE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace utlz {

// Control characters (terminal escapes among them), invalid UTF-8 and characters that turn the
// direction of writing are written as \xNN, byte by byte. The result is valid UTF-8 on one line.
std::string EscapeForTerminal(std::string_view text);

// Replaces invalid UTF-8 by U+FFFD and leaves the rest.
std::string ToValidUtf8(std::string_view text);

// Characters of valid UTF-8, each taken as one column wide.
size_t ColumnsOf(std::string_view text);

// Cut in the middle to `columns`, with an ellipsis: both ends of a kernel's name tell it apart.
std::string CutMiddle(std::string_view text, size_t columns);

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_ESCAPE_H_
