#include "collector/text/wrapped_text.h"

#include <algorithm>

#include "collector/text/shown_text.h"

namespace utlz {

std::string Wrap(const std::string& text, size_t columns, size_t indent, size_t first) {
  std::string wrapped;
  std::string line(first, ' ');
  bool has_word = false;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = CutMiddle(text.substr(begin, end - begin), columns - indent);
    begin = end + 1;
    if (has_word && ColumnsOf(line) + 1 + ColumnsOf(word) > columns) {
      wrapped += line + "\n";
      line = std::string(indent, ' ') + word;
    } else {
      line += (has_word ? " " : "") + word;
    }
    has_word = true;
  }
  return wrapped + line + "\n";
}

}  // namespace utlz
