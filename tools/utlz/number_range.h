// An option whose value is a number within bounds.
#ifndef UTLZ_TOOLS_UTLZ_NUMBER_RANGE_H_
#define UTLZ_TOOLS_UTLZ_NUMBER_RANGE_H_

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>

namespace utlz {

// From `least` to `most`. Another value is an error that names both as people write them. The help
// text is left to the option's own description.
template <typename Number>
CLI::Validator NumberRange(Number least, Number most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    Number value{};
    if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return {};
    std::ostringstream message;
    message << "'" << text << "' must be a number from " << least << " to " << most;
    return message.str();
  };
  return CLI::Validator(check, "", "number");
}

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_NUMBER_RANGE_H_
