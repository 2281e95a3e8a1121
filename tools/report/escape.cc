#include "tools/report/escape.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

namespace utlz {
namespace {

struct Character {
  uint32_t code;
  size_t bytes;
};

// The character that `text` begins with; nothing if it is not valid UTF-8 (RFC 3629).
std::optional<Character> FirstCharacter(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return Character{first, 1};
  size_t bytes = 0;
  uint32_t code = 0;
  uint32_t least = 0;
  if ((first & 0xE0) == 0xC0) {
    bytes = 2, code = first & 0x1Fu, least = 0x80;
  } else if ((first & 0xF0) == 0xE0) {
    bytes = 3, code = first & 0x0Fu, least = 0x800;
  } else if ((first & 0xF8) == 0xF0) {
    bytes = 4, code = first & 0x07u, least = 0x10000;
  } else {
    return std::nullopt;
  }
  if (text.size() < bytes) return std::nullopt;
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < least || code > 0x10FFFF || surrogate) return std::nullopt;
  return Character{code, bytes};
}

bool IsHarmful(uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7F && code <= 0x9F);
  const bool direction = code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
                         (code >= 0x2066 && code <= 0x2069);
  const bool invisible = code == 0x200B || code == 0x2028 || code == 0x2029 || code == 0xFEFF;
  return control || direction || invisible;
}

void AppendHex(std::string_view bytes, std::string* text) {
  for (const char byte : bytes) {
    std::array<char, 5> hex{};
    std::snprintf(hex.data(), hex.size(), "\\x%02x", static_cast<uint8_t>(byte));
    *text += hex.data();
  }
}

}  // namespace

std::string EscapeForTerminal(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const auto character = FirstCharacter(text);
    const size_t bytes = character.has_value() ? character->bytes : 1;
    if (character.has_value() && !IsHarmful(character->code)) {
      escaped += text.substr(0, bytes);
    } else {
      AppendHex(text.substr(0, bytes), &escaped);
    }
    text.remove_prefix(bytes);
  }
  return escaped;
}

std::string ToValidUtf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const auto character = FirstCharacter(text);
    const size_t bytes = character.has_value() ? character->bytes : 1;
    if (character.has_value()) {
      valid += text.substr(0, bytes);
    } else {
      valid += "\xEF\xBF\xBD";
    }
    text.remove_prefix(bytes);
  }
  return valid;
}

size_t ColumnsOf(std::string_view text) {
  size_t columns = 0;
  for (const char c : text) columns += (static_cast<uint8_t>(c) & 0xC0) != 0x80 ? 1 : 0;
  return columns;
}

std::string CutMiddle(std::string_view text, size_t columns) {
  const size_t length = ColumnsOf(text);
  if (length <= columns) return std::string(text);
  if (columns <= 1) return columns == 0 ? "" : "…";
  const size_t tail = (columns - 1) / 2;
  const size_t head = columns - 1 - tail;
  std::string cut;
  size_t column = 0;
  bool marked = false;
  while (!text.empty()) {
    const auto character = FirstCharacter(text);
    const size_t bytes = character.has_value() ? character->bytes : 1;
    if (column < head || column >= length - tail) {
      cut += text.substr(0, bytes);
    } else if (!marked) {
      cut += "…";
      marked = true;
    }
    ++column;
    text.remove_prefix(bytes);
  }
  return cut;
}

}  // namespace utlz
