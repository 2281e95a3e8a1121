#include "tools/json/nesting.h"

namespace utlz {

bool NestsTooDeeply(std::string_view json) {
  int levels = 0;
  bool in_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char byte = json[i];
    if (in_text) {
      if (byte == '\\') ++i;
      if (byte == '"') in_text = false;
    } else if (byte == '"') {
      in_text = true;
    } else if (byte == '[' || byte == '{') {
      if (++levels > kMostJsonLevels) return true;
    } else if (byte == ']' || byte == '}') {
      --levels;
    }
  }
  return false;
}

}  // namespace utlz
