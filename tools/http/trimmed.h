// Text of a header without the blanks around it.
#ifndef UTLZ_TOOLS_HTTP_TRIMMED_H_
#define UTLZ_TOOLS_HTTP_TRIMMED_H_

#include <string_view>

namespace utlz {

inline std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace utlz

#endif  // UTLZ_TOOLS_HTTP_TRIMMED_H_
