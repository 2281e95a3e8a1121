// The name that layers share which a model repeats. Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_LAYER_PATTERN_H_
#define UTLZ_COLLECTOR_LAYER_PATTERN_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace utlz {

// A path with its numbers replaced: `blocks.*.attn`.
inline std::string PatternOf(const std::string& path) {
  std::string pattern;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view component = std::string_view(path).substr(begin, end - begin);
    const bool is_number =
        !component.empty() && component.find_first_not_of("0123456789") == std::string_view::npos;
    if (begin > 0) pattern += '.';
    pattern += is_number ? "*" : component;
    begin = end + 1;
  }
  return pattern;
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_LAYER_PATTERN_H_
