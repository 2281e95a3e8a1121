#include "collector/text/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "collector/normal_interval.h"

namespace utlz {
namespace {

// Far beyond anything that is counted, and still an integer of 64 bits.
constexpr double kMostCounted = 1e15;

bool Known(const std::optional<double>& value) {
  return value.has_value() && std::isfinite(*value);
}

std::string Fixed(double value, int decimals) {
  std::array<char, 400> text{};  // a double has up to 309 digits before the point
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

// The digits of a number, which 10^digits bounds; all of a greater one's before the point.
std::string Digits(double value, int digits) {
  int decimals = digits - 1;
  for (double bound = 10; decimals > 0; bound *= 10, --decimals) {
    if (std::fabs(value) < bound - 0.5 * std::pow(10, -decimals)) break;
  }
  return Fixed(value, decimals);
}

struct Scale {
  double unit;
  const char* name;
};

// In the largest unit of which, with so many digits, it is at least one; in the last, if in none.
template <size_t N>
std::string Scaled(double value, int digits, const Scale (&scales)[N], std::string_view space,
                   std::string_view unit) {
  const double almost_one = 1 - 0.5 * std::pow(10, -digits);
  size_t i = 0;
  while (i + 1 < N && std::fabs(value) < scales[i].unit * almost_one) ++i;
  std::string text = Digits(value / scales[i].unit, digits);
  if (*scales[i].name != 0 || !unit.empty()) text += space;
  return text.append(scales[i].name).append(unit);
}

constexpr Scale kPrefixes[] = {{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"},
                               {1e6, "M"},  {1e3, "k"},  {1, ""}};

}  // namespace

std::string TimeText(std::optional<double> time_ns, int digits) {
  if (!Known(time_ns)) return kUnknown;
  if (*time_ns == 0) return "0";
  constexpr double kHourNs = 3600e9;
  if (*time_ns >= kHourNs) return Digits(std::fmin(*time_ns / kHourNs, 999999), digits) + " h";
  constexpr Scale kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
  return Scaled(*time_ns, digits, kUnits, " ", "");
}

std::string PrefixedText(std::optional<double> value, std::string_view unit, int digits) {
  if (!Known(value)) return kUnknown;
  if (*value == 0) return unit.empty() ? "0" : "0 " + std::string(unit);
  return Scaled(*value, digits, kPrefixes, " ", unit);
}

std::string BytesText(std::optional<double> bytes) {
  if (!Known(bytes)) return kUnknown;
  if (*bytes == 0) return "0";
  if (*bytes < 1000 && *bytes == std::floor(*bytes)) return Fixed(*bytes, 0) + " B";
  return PrefixedText(bytes, "B");
}

std::string PercentText(std::optional<double> share) {
  return Known(share) ? Fixed(std::fmin(*share * 100, 99999), 1) + " %" : kUnknown;
}

std::string PrecisePercentText(std::optional<double> share) {
  // Shown with one decimal, a share below is that of less than one digit.
  constexpr double kOneDigit = 0.001;
  constexpr int kMostDecimals = 9;
  if (!Known(share) || *share == 0 || std::fabs(*share) >= kOneDigit) return PercentText(share);
  const double percent = *share * 100;
  const int decimals = 1 - static_cast<int>(std::floor(std::log10(std::fabs(percent))));
  return Fixed(percent, std::min(decimals, kMostDecimals)) + " %";
}

std::string PercentWithErrorText(double share, double error_share) {
  return PercentText(share) + " ± " + (error_share < 0.0005 ? "<0.1 %" : PercentText(error_share));
}

std::string ShortPercentText(std::optional<double> share) {
  if (!Known(share)) return kUnknown;
  if (*share > 0 && *share < 0.005) return "<1%";
  return Fixed(std::fmin(*share * 100, 9999), 0) + "%";
}

std::string RatioText(std::optional<double> value) {
  if (!Known(value)) return kUnknown;
  if (*value == 0) return "0";
  return std::fabs(*value) >= 1000 ? CompactCountText(value) : Digits(*value, kDigits);
}

std::string CompactText(std::optional<double> value) {
  if (!Known(value)) return kUnknown;
  return *value == 0 ? "0" : Scaled(*value, kDigits, kPrefixes, "", "");
}

std::string CompactCountText(std::optional<double> count) {
  if (!Known(count)) return kUnknown;
  return std::fabs(*count) < 1000 ? Fixed(*count, 0) : CompactText(count);
}

std::string CompactMeasuredText(std::optional<double> value, double standard_error) {
  const double half_width = kNormal95 * standard_error;
  if (!Known(value) || !(half_width > 0) || *value > half_width) return CompactText(value);
  return "<" + CompactText(*value + half_width);
}

std::string CountText(double count) {
  std::string digits = Fixed(count > 0 ? std::round(std::min(count, kMostCounted)) : 0, 0);
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
