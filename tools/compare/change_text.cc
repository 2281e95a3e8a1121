#include "tools/compare/change_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "collector/normal_interval.h"
#include "collector/text/number_text.h"

namespace utlz {
namespace {

constexpr int kFourDigits = 4;

std::string PointsText(double share) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1f pt", share * 100);
  return text.data();
}

}  // namespace

std::string NumberText(std::optional<double> value, std::string_view unit) {
  if (unit == "ns") return TimeText(value, kFourDigits);
  if (unit == "share") return PrecisePercentText(value);
  return PrefixedText(value, unit == "1/s" ? "/s" : unit, kFourDigits);
}

std::string SignedNumberText(std::optional<double> value, std::string_view unit) {
  if (!value || !std::isfinite(*value)) return kUnknown;
  return (*value < 0 ? "−" : "+") + NumberText(std::abs(*value), unit);
}

std::string DeltaText(std::optional<double> delta, std::string_view unit) {
  if (unit != "share" || !delta || !std::isfinite(*delta)) return SignedNumberText(delta, unit);
  return (*delta < 0 ? "−" : "+") + PointsText(std::abs(*delta));
}

std::string IntervalText(std::optional<double> error, std::string_view unit) {
  if (!error || !std::isfinite(*error)) return kUnknown;
  const double half_width = *error * kNormal95;
  return "± " + (unit == "share" ? PointsText(half_width) : NumberText(half_width, unit));
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
  return text == "flops" ? "FLOPs, all types" : text;
}

std::string InstancesText(size_t before, size_t after) {
  if (std::max(before, after) < 2) return {};
  std::string text = " ×" + std::to_string(before);
  if (after != before) text += "→" + std::to_string(after);
  return text;
}

}  // namespace utlz
