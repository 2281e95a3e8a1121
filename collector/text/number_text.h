// Numbers as people read them: a few significant digits without an exponent, and "–" for what is
// not known or not finite. Pure, thread-safe.
#ifndef UTLZ_COLLECTOR_TEXT_NUMBER_TEXT_H_
#define UTLZ_COLLECTOR_TEXT_NUMBER_TEXT_H_

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace utlz {

inline constexpr const char* kUnknown = "–";
inline constexpr int kDigits = 3;

// "1.23 s", "45.6 ms", "7.89 µs", "12.0 ns", "0".
std::string TimeText(std::optional<double> time_ns, int digits = kDigits);
// With a prefix from k to E: "949 TFLOP/s", "1.80 GHz", "202 M" of an empty unit.
std::string PrefixedText(std::optional<double> value, std::string_view unit, int digits = kDigits);
std::string BytesText(std::optional<double> bytes);    // "1.50 GB" (powers of ten), "4 B"
std::string PercentText(std::optional<double> share);  // "43.2 %"
// The same, of two digits where it would show as none: "0.028 %".
std::string PrecisePercentText(std::optional<double> share);
// "3.5 % ± 2.1 %", "3.5 % ± <0.1 %".
std::string PercentWithErrorText(double share, double error_share);
std::string ShortPercentText(std::optional<double> share);  // "43%", "<1%"
std::string RatioText(std::optional<double> value);         // "123", "1.20", "0.05", "461k"

// For narrow columns.
std::string CompactText(std::optional<double> value);       // "312T", "2.10k", "12.0", "0"
std::string CompactCountText(std::optional<double> count);  // "461k", "1.20M", "12"
// As CompactText, and the upper end of the 95 % interval, "<4.70G", where that reaches down to
// zero.
std::string CompactMeasuredText(std::optional<double> value, double standard_error);

// A whole number: "25,002". What is no count is 0.
std::string CountText(double count);
template <std::integral Integer>
std::string CountText(Integer count) {
  return CountText(static_cast<double>(count));
}
// The same of three digits: "14,200" of 14,216.
std::string RoundCountText(double count);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TEXT_NUMBER_TEXT_H_
