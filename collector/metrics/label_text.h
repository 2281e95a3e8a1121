// Makes text that a process wrote fit for the value of a label. Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_METRICS_LABEL_TEXT_H_
#define UTLZ_COLLECTOR_METRICS_LABEL_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace utlz {

inline constexpr size_t kMaxLabelBytes = 128;

// Well-formed UTF-8 of at most kMaxLabelBytes. A control character of ASCII, or a byte that is no
// UTF-8, becomes a question mark. Other control characters, and those that are invisible or turn
// the direction of writing, become text such as `\u202e`.
std::string LabelText(std::string_view text);

// The last part of a path.
std::string_view BaseName(std::string_view path);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_METRICS_LABEL_TEXT_H_
