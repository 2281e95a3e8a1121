#include "tools/report/units.h"

#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "collector/normal_interval.h"

namespace utlz {
namespace {

// Three significant digits of 1 ≤ |value| < 1000.
std::string ThreeDigits(double value) {
  std::array<char, 32> text{};
  const double size = std::fabs(value);
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

struct Scale {
  double unit;
  const char* name;
};

template <size_t N>
std::string Scaled(double value, const Scale (&scales)[N]) {
  for (const Scale& scale : scales) {
    if (std::fabs(value) >= scale.unit * 0.9995) return ThreeDigits(value / scale.unit) + scale.name;
  }
  return ThreeDigits(value / scales[N - 1].unit) + scales[N - 1].name;
}

bool Known(const std::optional<double>& value) { return value.has_value() && std::isfinite(*value); }

}  // namespace

std::string FormatTime(std::optional<double> time_ns) {
  if (!Known(time_ns)) return kUnknown;
  if (*time_ns == 0) return "0";
  constexpr double kHourNs = 3600e9;
  if (*time_ns >= kHourNs) return ThreeDigits(std::fmin(*time_ns / kHourNs, 999999)) + " h";
  constexpr Scale kScales[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " µs"}, {1, " ns"}};
  return Scaled(*time_ns, kScales);
}

std::string FormatCount(std::optional<double> count) {
  if (!Known(count)) return kUnknown;
  if (std::fabs(*count) < 1000) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.0f", *count);
    return text.data();
  }
  constexpr Scale kScales[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  return Scaled(*count, kScales);
}

std::string FormatRate(std::optional<double> per_second) {
  if (!Known(per_second)) return kUnknown;
  if (*per_second == 0) return "0";
  constexpr Scale kScales[] = {{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"},
                               {1e6, "M"},  {1e3, "k"},  {1, ""}};
  return Scaled(*per_second, kScales);
}

std::string FormatMeasuredRate(std::optional<double> per_second, double standard_error) {
  const double half_width = kNormal95 * standard_error;
  if (!Known(per_second) || !(half_width > 0) || *per_second > half_width) {
    return FormatRate(per_second);
  }
  return "<" + FormatRate(*per_second + half_width);
}

std::string FormatRateIn(std::optional<double> value, const char* unit) {
  std::string text = FormatRate(value);
  if (!Known(value)) return text;
  const bool has_prefix = std::isalpha(static_cast<unsigned char>(text.back())) != 0;
  text.insert(has_prefix ? text.size() - 1 : text.size(), 1, ' ');
  return text + unit;
}

std::string FormatBytes(std::optional<double> bytes) {
  if (!Known(bytes)) return kUnknown;
  if (*bytes == 0) return "0";
  if (*bytes < 1000 && *bytes == std::floor(*bytes)) return FormatCount(bytes) + " B";
  constexpr Scale kScales[] = {{1e15, " PB"}, {1e12, " TB"}, {1e9, " GB"},
                               {1e6, " MB"},  {1e3, " kB"},  {1, " B"}};
  return Scaled(*bytes, kScales);
}

std::string FormatShare(std::optional<double> share) {
  if (!Known(share)) return kUnknown;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", std::fmin(*share * 100, 99999));
  return text.data();
}

std::string FormatShortShare(std::optional<double> share) {
  if (!Known(share)) return kUnknown;
  if (*share > 0 && *share < 0.005) return "<1%";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f%%", std::fmin(*share * 100, 9999));
  return text.data();
}

std::string FormatRatio(std::optional<double> value) {
  if (!Known(value)) return kUnknown;
  if (*value == 0) return "0";
  if (std::fabs(*value) >= 1000) return FormatCount(value);
  return ThreeDigits(*value);
}

std::string FormatGrouped(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

}  // namespace utlz
