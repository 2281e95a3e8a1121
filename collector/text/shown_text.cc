#include "collector/text/shown_text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "proto/valid_text.h"

namespace utlz {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

// The character that well-formed UTF-8 of these bytes means.
uint32_t CodeOf(std::string_view bytes) {
  const auto first = static_cast<uint8_t>(bytes[0]);
  if (bytes.size() == 1) return first;
  uint32_t code = first & (0x7fu >> bytes.size());
  for (const char byte : bytes.substr(1)) code = code << 6 | (static_cast<uint8_t>(byte) & 0x3fu);
  return code;
}

bool IsIn(uint32_t code, uint32_t first, uint32_t last) { return code >= first && code <= last; }

bool IsHarmful(uint32_t code) {
  const bool control = code < 0x20 || IsIn(code, 0x7f, 0x9f);
  const bool direction = code == 0x61c || code == 0x200e || code == 0x200f ||
                         IsIn(code, 0x202a, 0x202e) || IsIn(code, 0x2066, 0x2069);
  const bool invisible = code == 0x200b || code == 0x2028 || code == 0x2029 || code == 0xfeff;
  return control || direction || invisible;
}

// Takes the character that `text` begins with off it; of what is no well-formed UTF-8 one byte, and
// `*valid` is false.
std::string_view TakeCharacter(std::string_view* text, bool* valid) {
  const size_t length = Utf8Length(text->data(), text->size());
  *valid = length != 0;
  const std::string_view character = text->substr(0, std::max<size_t>(1, length));
  text->remove_prefix(character.size());
  return character;
}

// The text with `replace(byte)` for each byte that may not be shown.
template <typename Replace>
std::string Harmless(std::string_view text, Replace replace) {
  std::string harmless;
  while (!text.empty()) {
    bool valid = false;
    const std::string_view character = TakeCharacter(&text, &valid);
    if (valid && !IsHarmful(CodeOf(character))) {
      harmless += character;
    } else {
      for (const char byte : character) harmless += replace(static_cast<uint8_t>(byte));
    }
  }
  return harmless;
}

// `\uNNNN` for a character up to U+FFFF.
std::string Unicode(uint32_t code) {
  std::string text = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) text += kDigits[code >> shift & 15];
  return text;
}

std::string Hex(uint8_t byte) { return {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]}; }

// All but what lies between the first `head` and the last `tail` characters of `length`.
std::string WithoutMiddle(std::string_view text, size_t length, size_t head, size_t tail) {
  std::string cut;
  for (size_t column = 0; !text.empty(); ++column) {
    bool valid = false;
    const std::string_view character = TakeCharacter(&text, &valid);
    if (column < head || column >= length - tail) cut += character;
    if (column == head) cut += "…";
  }
  return cut;
}

bool IsAlphanumeric(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }
bool IsDigit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }

// Of "www.", which begins a link.
bool EndsLinkStart(char letter) { return letter == 'w' || letter == 'W' || letter == ' '; }

// Whether nothing acts on a byte where it stands, so that sentences stay readable as they are.
// Brackets, backquotes, "<", "&", "@" and the like never are. A point may make a link ("www.x") or
// a numbered list, a colon a link, a dash or an underscore a line or emphasis.
bool IsPlainInMarkdown(std::string_view text, size_t i) {
  if (static_cast<uint8_t>(text[i]) >= 0x80) return true;
  const char before = i > 0 ? text[i - 1] : ' ';
  const char after = i + 1 < text.size() ? text[i + 1] : ' ';
  switch (text[i]) {
    case ' ':
    case ',':
    case '%':
    case ';':
    case '(':
    case '"':
      return true;
    case ')':
      return !IsDigit(before);
    case '.':
      return after == ' ' ? !IsDigit(before) : IsAlphanumeric(after) && !EndsLinkStart(before);
    case ':':
      return after == ' ';
    case '-':
    case '_':
      return IsAlphanumeric(before) && IsAlphanumeric(after);
    case '/':
    case '=':
      return IsAlphanumeric(before) && after != '/' && after != '=';
    default:
      return IsAlphanumeric(text[i]);
  }
}

}  // namespace

std::string EscapeInJson(std::string_view json) {
  const auto is_harmless = [](char byte) { return static_cast<uint8_t>(byte) < 0x7f; };
  if (std::all_of(json.begin(), json.end(), is_harmless)) return std::string(json);
  std::string escaped;
  escaped.reserve(json.size());
  while (!json.empty()) {
    bool valid = false;
    const std::string_view character = TakeCharacter(&json, &valid);
    const uint32_t code = valid ? CodeOf(character) : 0;
    // Texts hold no control characters below 0x20 any more: the JSON library has escaped them. Line
    // ends between values stay.
    if (code < 0x7f) {
      escaped += character;
    } else {
      escaped += VisibleCharacter(character);
    }
  }
  return escaped;
}

std::string VisibleCharacter(std::string_view character) {
  const uint32_t code = CodeOf(character);
  return IsHarmful(code) ? Unicode(code) : std::string(character);
}

std::string EscapeForTerminal(std::string_view text) { return Harmless(text, Hex); }

std::string TerminalName(std::string_view name, size_t width) {
  const std::string text = Harmless(name, [](uint8_t) { return '?'; });
  const size_t length = ColumnsOf(text);
  if (length <= width || width == 0) return text;
  const size_t tail = width / 3;
  return WithoutMiddle(text, length, width - tail - 1, tail);
}

std::string MarkdownName(std::string_view name, size_t width) {
  const std::string shown = TerminalName(name, width);
  std::string text;
  for (size_t i = 0; i < shown.size(); ++i) {
    if (IsPlainInMarkdown(shown, i)) {
      text += shown[i];
    } else {
      text += "&#" + std::to_string(static_cast<int>(shown[i])) + ";";
    }
  }
  return text;
}

std::string ToValidUtf8(std::string_view text) {
  std::string valid_text;
  while (!text.empty()) {
    bool valid = false;
    const std::string_view character = TakeCharacter(&text, &valid);
    valid_text += valid ? character : "\xEF\xBF\xBD";
  }
  return valid_text;
}

size_t ColumnsOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

std::string CutMiddle(std::string_view text, size_t columns) {
  const size_t length = ColumnsOf(text);
  if (length <= columns) return std::string(text);
  if (columns == 0) return "";
  const size_t tail = (columns - 1) / 2;
  return WithoutMiddle(text, length, columns - 1 - tail, tail);
}

std::string CutBeginning(std::string_view text, size_t columns) {
  const size_t length = ColumnsOf(text);
  if (length <= columns) return std::string(text);
  return columns == 0 ? "" : WithoutMiddle(text, length, 0, columns - 1);
}

std::string CutEnd(std::string_view text, size_t columns) {
  const size_t length = ColumnsOf(text);
  if (length <= columns) return std::string(text);
  return columns == 0 ? "" : WithoutMiddle(text, length, columns - 1, 0);
}

}  // namespace utlz
