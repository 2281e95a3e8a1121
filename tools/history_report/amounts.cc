#include "tools/history_report/amounts.h"

#include <charconv>
#include <cmath>
#include <utility>

namespace utlz {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kMostSeconds = 10 * 366 * 86400.0;
constexpr double kMostBytes = static_cast<double>(uint64_t{1} << 40);

using Unit = std::pair<std::string_view, double>;

// A positive number and the value of its unit; nothing where either is missing.
template <size_t kCount>
std::optional<double> Parse(std::string_view text, const Unit (&units)[kCount]) {
  double number = 0;
  const auto read =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (read.ec != std::errc() || !std::isfinite(number) || number <= 0) return std::nullopt;
  const std::string_view name(read.ptr, static_cast<size_t>(text.data() + text.size() - read.ptr));
  for (const auto& [unit, value] : units) {
    if (name == unit) return number * value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> ParseSince(std::string_view text) {
  constexpr Unit kUnits[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"w", 7 * 86400}};
  const std::optional<double> seconds = Parse(text, kUnits);
  if (!seconds || *seconds > kMostSeconds) return std::nullopt;
  return static_cast<uint64_t>(*seconds * kNsPerSecond);
}

std::optional<uint64_t> ParseSize(std::string_view text) {
  constexpr Unit kUnits[] = {{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
                             {"KB", 1e3},      {"MB", 1e6},      {"GB", 1e9}};
  const std::optional<double> bytes = Parse(text, kUnits);
  if (!bytes || *bytes > kMostBytes) return std::nullopt;
  return static_cast<uint64_t>(*bytes);
}

}  // namespace utlz
