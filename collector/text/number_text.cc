#include "collector/text/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace utlz {
namespace {

// Far beyond anything that is counted, and still an integer of 64 bits.
constexpr double kMostCounted = 1e15;

std::string Printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

// Three digits of a number below 1000.
std::string ThreeDigits(double value) {
  const double size = std::fabs(value);
  return Printed(size < 9.995 ? "%.2f" : size < 99.95 ? "%.1f" : "%.0f", value);
}

}  // namespace

std::string PercentText(double share) { return Printed("%.1f %%", 100 * share); }

std::string PrefixedText(double value, const char* unit) {
  constexpr std::array<const char*, 7> kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  while (std::fabs(value) >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  const std::string text = ThreeDigits(value) + " " + kPrefixes[prefix] + unit;
  return text.back() == ' ' ? text.substr(0, text.size() - 1) : text;
}

std::string TimeText(double time_ns) {
  if (time_ns >= 999.5e6) return ThreeDigits(time_ns * 1e-9) + " s";
  if (time_ns >= 999.5e3) return ThreeDigits(time_ns * 1e-6) + " ms";
  return ThreeDigits(time_ns * 1e-3) + " µs";
}

std::string CountText(double count) {
  const double known = count > 0 ? std::min(count, kMostCounted) : 0;
  std::string digits = std::to_string(static_cast<long long>(std::llround(known)));
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string RoundCountText(double count) {
  if (!(count >= 1000)) return CountText(count);
  const double unit = std::pow(10, std::floor(std::log10(std::min(count, kMostCounted))) - 2);
  return CountText(std::round(count / unit) * unit);
}

}  // namespace utlz
