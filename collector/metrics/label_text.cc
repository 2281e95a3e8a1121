#include "collector/metrics/label_text.h"

#include "collector/text/shown_text.h"
#include "proto/valid_text.h"

namespace utlz {

std::string LabelText(std::string_view text) {
  std::string label;
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text.data() + at, text.size() - at);
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool replaced = length == 0 || byte < 0x20 || byte == 0x7f;
    const std::string shown = replaced ? "?" : VisibleCharacter(text.substr(at, length));
    if (label.size() + shown.size() > kMaxLabelBytes) break;
    label += shown;
    at += length == 0 ? 1 : length;
  }
  return label;
}

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace utlz
