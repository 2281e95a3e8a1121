#include "tools/compare/number_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "collector/normal_interval.h"

namespace utlz {
namespace {

constexpr std::string_view kUnknown = "–";

std::string Format(const char* format, double value) {
  std::array<char, 64> text;
  const int length = std::snprintf(text.data(), text.size(), format, value);
  return std::string(text.data(), std::min<size_t>(static_cast<size_t>(length), text.size() - 1));
}

// Four significant digits without an exponent, for a magnitude below a million.
std::string FourDigits(double value) {
  const double magnitude = std::abs(value);
  if (magnitude >= 1000) return Format("%.0f", value);
  if (magnitude >= 100) return Format("%.1f", value);
  if (magnitude >= 10) return Format("%.2f", value);
  return Format("%.3f", value);
}

std::string WithPrefix(double value, std::string_view unit) {
  struct Prefix {
    double factor;
    std::string_view name;
  };
  static constexpr Prefix kPrefixes[] = {
      {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const Prefix& prefix : kPrefixes) {
    if (std::abs(value) >= prefix.factor) {
      return FourDigits(value / prefix.factor) + " " + std::string(prefix.name) + std::string(unit);
    }
  }
  return FourDigits(value) + " " + std::string(unit);
}

std::string TimeText(double ns) {
  const double magnitude = std::abs(ns);
  if (magnitude >= 1e9) return FourDigits(ns / 1e9) + " s";
  if (magnitude >= 1e6) return FourDigits(ns / 1e6) + " ms";
  if (magnitude >= 1e3) return FourDigits(ns / 1e3) + " µs";
  return FourDigits(ns) + " ns";
}

// Length of the UTF-8 sequence at the start of `text`, 0 where it is none that may be shown.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t length = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first >= 0xf5 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (first == 0xc2 && byte(1) < 0xa0) return 0;   // C1 control characters
  if (first == 0xe0 && byte(1) < 0xa0) return 0;   // longer than needed
  if (first == 0xed && byte(1) >= 0xa0) return 0;  // surrogates
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;
  // Bidirectional controls would let a name rearrange the line around it.
  const bool mark =
      first == 0xe2 && byte(1) == 0x80 && (byte(2) == 0x8b || byte(2) == 0x8e || byte(2) == 0x8f);
  if (mark || (first == 0xd8 && byte(1) == 0x9c)) return 0;
  if (first == 0xe2 && byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) return 0;
  if (first == 0xe2 && byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9) return 0;
  return length;
}

std::vector<std::string_view> Characters(std::string_view name) {
  std::vector<std::string_view> characters;
  while (!name.empty()) {
    const size_t length = SequenceLength(name);
    characters.push_back(length == 0 ? std::string_view("?") : name.substr(0, length));
    name.remove_prefix(std::max<size_t>(1, length));
  }
  return characters;
}

std::vector<std::string_view> Shortened(std::string_view name, size_t width) {
  std::vector<std::string_view> characters = Characters(name);
  if (characters.size() <= width || width == 0) return characters;
  const size_t tail = width / 3;
  const size_t head = width - tail - 1;
  const auto first = characters.begin() + static_cast<ptrdiff_t>(head);
  const auto last = characters.end() - static_cast<ptrdiff_t>(tail);
  *first = "…";
  characters.erase(first + 1, last);
  return characters;
}

bool IsAlphanumeric(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }
bool IsDigit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }

// Of "www.", which begins a link.
bool EndsLinkStart(char letter) { return letter == 'w' || letter == 'W' || letter == ' '; }

// Whether nothing acts on a character where it stands, so that sentences stay readable as they are.
// Brackets, backquotes, "<", "&", "@" and the like never are. A point may make a link ("www.x") or
// a numbered list, a colon a link, a dash or an underscore a line or emphasis.
bool IsPlainInMarkdown(const std::vector<std::string_view>& characters, size_t i) {
  if (characters[i].size() > 1) return true;
  const char letter = characters[i][0];
  const char before = i > 0 ? characters[i - 1][0] : ' ';
  const char after = i + 1 < characters.size() ? characters[i + 1][0] : ' ';
  switch (letter) {
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
      return IsAlphanumeric(letter);
  }
}

}  // namespace

std::string NumberText(std::optional<double> value, std::string_view unit) {
  if (!value || !std::isfinite(*value)) return std::string(kUnknown);
  if (unit == "ns") return TimeText(*value);
  if (unit == "share") return Format("%.1f %%", *value * 100);
  if (unit == "1/s") return WithPrefix(*value, "/s");
  if (unit.empty()) return FourDigits(*value);
  return WithPrefix(*value, unit);
}

std::string SignedNumberText(std::optional<double> value, std::string_view unit) {
  if (!value || !std::isfinite(*value)) return std::string(kUnknown);
  return (*value < 0 ? "−" : "+") + NumberText(std::abs(*value), unit);
}

std::string DeltaText(std::optional<double> delta, std::string_view unit) {
  if (unit != "share" || !delta || !std::isfinite(*delta)) return SignedNumberText(delta, unit);
  return (*delta < 0 ? "−" : "+") + Format("%.1f pt", std::abs(*delta) * 100);
}

std::string IntervalText(std::optional<double> error, std::string_view unit) {
  if (!error || !std::isfinite(*error)) return std::string(kUnknown);
  const double half_width = *error * kNormal95;
  return "± " +
         (unit == "share" ? Format("%.1f pt", half_width * 100) : NumberText(half_width, unit));
}

std::string QuantityText(std::string_view name) {
  constexpr std::string_view kUnits[] = {"ns", "share", "hz", "watts", "bytes", "joules"};
  constexpr std::string_view kCapitals[] = {"hfu", "mfu", "gpu", "sm", "hbm", "dram"};
  std::string text;
  while (!name.empty()) {
    const size_t end = std::min(name.find('_'), name.size());
    const std::string_view word = name.substr(0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
    const bool is_unit = std::find(std::begin(kUnits), std::end(kUnits), word) != std::end(kUnits);
    if (name.empty() && is_unit) break;
    if (!text.empty()) text += ' ';
    const bool capital =
        std::find(std::begin(kCapitals), std::end(kCapitals), word) != std::end(kCapitals);
    for (const char letter : word) {
      text +=
          capital ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
    }
  }
  return text == "flops" ? "FLOPs" : text;
}

std::string TerminalName(std::string_view name, size_t width) {
  std::string text;
  for (const std::string_view character : Shortened(name, width)) text += character;
  return text;
}

std::string MarkdownName(std::string_view name, size_t width) {
  const std::vector<std::string_view> characters = Shortened(name, width);
  std::string text;
  for (size_t i = 0; i < characters.size(); ++i) {
    if (IsPlainInMarkdown(characters, i)) {
      text += characters[i];
    } else {
      text += "&#" + std::to_string(static_cast<int>(characters[i][0])) + ";";
    }
  }
  return text;
}

}  // namespace utlz
