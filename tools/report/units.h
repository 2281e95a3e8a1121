// Numbers for people: three significant digits, a unit, "–" for what is not known.
#ifndef UTLZ_TOOLS_REPORT_UNITS_H_
#define UTLZ_TOOLS_REPORT_UNITS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace utlz {

inline constexpr const char* kUnknown = "–";

std::string FormatTime(std::optional<double> time_ns);     // "1.23 s", "45.6 ms", "7.89 µs", "12 ns"
std::string FormatCount(std::optional<double> count);      // "461k", "1.20M"
std::string FormatRate(std::optional<double> per_second);  // "312T", "2.10T"
// The same with a unit: "312 TFLOP/s", "1.80 GHz".
// The same, and the upper end of the 95 % interval, "<4.70G", where that reaches down to zero.
std::string FormatMeasuredRate(std::optional<double> per_second, double standard_error);
std::string FormatRateIn(std::optional<double> value, const char* unit);
std::string FormatBytes(std::optional<double> bytes);      // "1.50 GB" (powers of ten)
std::string FormatShare(std::optional<double> share);      // "43.2 %"
std::string FormatShortShare(std::optional<double> share);  // "43%"
std::string FormatRatio(std::optional<double> value);      // "123", "1.20", "0.05"
std::string FormatGrouped(uint64_t count);                 // "461,000"

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_UNITS_H_
