// Makes text of unknown origin, which names of kernels are, safe to show. Pure, thread-safe.
#ifndef UTLZ_COLLECTOR_TEXT_SHOWN_TEXT_H_
#define UTLZ_COLLECTOR_TEXT_SHOWN_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace utlz {

// Control characters (terminal escapes among them), invalid UTF-8 and characters that turn the
// direction of writing are written as \xNN, byte by byte. The result is valid UTF-8 on one line.
std::string EscapeForTerminal(std::string_view text);

// The same by one question mark a byte, and the middle of what is longer than `width` characters
// becomes "…"; nothing is cut where `width` is 0.
std::string TerminalName(std::string_view name, size_t width);

// A name or sentence for Markdown, in a table cell too: as TerminalName, and every character that
// Markdown or HTML could act on where it stands is an entity.
std::string MarkdownName(std::string_view name, size_t width);

// The same for JSON that a library wrote: characters that EscapeForTerminal would replace become
// `\uNNNN`, which readers of JSON take for the same characters.
std::string EscapeInJson(std::string_view json);

// One character of well-formed UTF-8: itself, or `\uNNNN` where EscapeForTerminal would replace it.
std::string VisibleCharacter(std::string_view character);

// Replaces invalid UTF-8 by U+FFFD and leaves the rest.
std::string ToValidUtf8(std::string_view text);

// Characters of valid UTF-8, each taken as one column wide.
size_t ColumnsOf(std::string_view text);

// Cut in the middle to `columns`, with an ellipsis: both ends of a kernel's name tell it apart.
std::string CutMiddle(std::string_view text, size_t columns);
// The same at the beginning, where the end tells more, and at the end.
std::string CutBeginning(std::string_view text, size_t columns);
std::string CutEnd(std::string_view text, size_t columns);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TEXT_SHOWN_TEXT_H_
