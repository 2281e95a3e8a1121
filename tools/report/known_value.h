// A field of the summary that may be absent.
#ifndef UTLZ_TOOLS_REPORT_KNOWN_VALUE_H_
#define UTLZ_TOOLS_REPORT_KNOWN_VALUE_H_

#include <optional>

namespace utlz {

// `known` is the field's has_…().
inline std::optional<double> KnownValue(bool known, double value) {
  return known ? std::make_optional(value) : std::nullopt;
}

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_KNOWN_VALUE_H_
