// The name that layers share which a model repeats. Thread safety: functions only.
#ifndef UTLZ_COLLECTOR_LAYER_PATTERN_H_
#define UTLZ_COLLECTOR_LAYER_PATTERN_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace utlz {

// `block_*` of `block_3`; the name as it is where it does not end in a number.
inline std::string NumberedPattern(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == name.size() || name[last] != '_') {
    return std::string(name);
  }
  return std::string(name.substr(0, last + 1)) + "*";
}

// A path with its numbers replaced: `blocks.*.attn`. `has_numbered_names`: numbers at the end of
// names too, `block_*.attn`.
inline std::string PatternOf(const std::string& path, bool has_numbered_names) {
  std::string pattern;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view component = std::string_view(path).substr(begin, end - begin);
    const bool is_number =
        !component.empty() && component.find_first_not_of("0123456789") == std::string_view::npos;
    if (begin > 0) pattern += '.';
    pattern += is_number            ? "*"
               : has_numbered_names ? NumberedPattern(component)
                                    : std::string(component);
    begin = end + 1;
  }
  return pattern;
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_LAYER_PATTERN_H_
