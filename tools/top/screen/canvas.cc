#include "tools/top/screen/canvas.h"

#include <algorithm>

#include "proto/valid_text.h"

namespace utlz::top {
namespace {

struct Character {
  std::string_view bytes;
  char32_t code = 0;  // 0: no well-formed UTF-8
};

Character NextCharacter(std::string_view text) {
  const size_t length = Utf8Length(text.data(), text.size());
  if (length == 0) return {text.substr(0, 1), 0};
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  char32_t code = length == 1 ? byte(0) : byte(0) & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) code = (code << 6) | (byte(i) & 0x3fu);
  return {text.substr(0, length), code};
}

// Those that are one column wide everywhere: Latin, Greek and Cyrillic letters, and the signs that
// this program draws with.
bool IsOneColumn(char32_t code) {
  return (code >= 0x20 && code < 0x7f) || (code >= 0xa1 && code < 0x300 && code != 0xad) ||
         (code >= 0x370 && code < 0x483) || (code >= 0x48a && code < 0x530) ||
         (code >= 0x2010 && code < 0x2028) || (code >= 0x2030 && code < 0x205f) ||
         (code >= 0x2190 && code < 0x2200) || (code >= 0x2500 && code < 0x2600) ||
         (code >= 0x2800 && code < 0x2900) || code == 0x2264 || code == 0x2265;
}

// For a terminal that shows ASCII alone.
std::string_view InAscii(char32_t code) {
  switch (code) {
    case 0xb7:  // middle dot
      return "-";
    case 0xb0:  // degree
      return " ";
    case 0xb5:  // micro
    case 0x3bc:
      return "u";
    case 0xd7:  // times
      return "x";
    case 0x2013:  // dash
      return "-";
    case 0x2026:  // ellipsis
      return "~";
    default:
      return "?";
  }
}

std::string Shown(const Character& character, bool unicode) {
  if (!IsOneColumn(character.code)) return "?";
  if (unicode || character.code < 0x80) return std::string(character.bytes);
  return std::string(InAscii(character.code));
}

}  // namespace

Canvas::Canvas(int width, int height, bool unicode)
    : width_(std::max(width, 0)),
      height_(std::max(height, 0)),
      unicode_(unicode),
      cells_(static_cast<size_t>(width_) * static_cast<size_t>(height_)) {}

const Cell& Canvas::At(int row, int column) const {
  return cells_[static_cast<size_t>(row) * static_cast<size_t>(width_) +
                static_cast<size_t>(column)];
}

int Canvas::Put(int row, int column, std::string_view text, Style style, int end) {
  const int stop = std::min(end, width_);
  while (!text.empty() && column < stop) {
    const Character character = NextCharacter(text);
    text.remove_prefix(character.bytes.size());
    if (row >= 0 && row < height_ && column >= 0) {
      Cell& cell = cells_[static_cast<size_t>(row) * static_cast<size_t>(width_) +
                          static_cast<size_t>(column)];
      cell.text = Shown(character, unicode_);
      cell.style = style;
    }
    ++column;
  }
  return column;
}

void Canvas::PutRight(int row, int end, std::string_view text, Style style) {
  Put(row, end - ColumnsOnCanvas(text), text, style, end);
}

void Canvas::Fill(int row, Style style) {
  Put(row, 0, std::string(static_cast<size_t>(width_), ' '), style);
}

std::string Canvas::Text() const {
  std::string text;
  for (int row = 0; row < height_; ++row) {
    std::string line;
    for (int column = 0; column < width_; ++column) line += At(row, column).text;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

int ColumnsOnCanvas(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    text.remove_prefix(NextCharacter(text).bytes.size());
    ++columns;
  }
  return columns;
}

}  // namespace utlz::top
