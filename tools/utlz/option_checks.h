// Checks of options: one of a few words, or a number within bounds.
#ifndef UTLZ_TOOLS_UTLZ_OPTION_CHECKS_H_
#define UTLZ_TOOLS_UTLZ_OPTION_CHECKS_H_

#include <CLI/CLI.hpp>
#include <map>
#include <sstream>
#include <string>

namespace utlz {

// Of options whose duration nothing bounds.
inline constexpr double kMaxSeconds = 1e9;

// By which a validator's name says that it lists the words, with spaces between them.
inline constexpr char kChoicePrefix[] = "one of ";

// Turns a word into its value; another word is an error that names them all. The help text is left
// to the option's own description.
template <typename Value>
CLI::Validator Choice(const std::map<std::string, Value>& values) {
  const auto replace = [values](std::string& word) -> std::string {
    const auto found = values.find(word);
    if (found != values.end()) {
      word = std::to_string(static_cast<int>(found->second));
      return {};
    }
    std::string message = "'" + word + "' must be one of";
    for (const auto& [name, value] : values) message += " " + name;
    return message;
  };
  std::string words = kChoicePrefix;
  for (const auto& [name, value] : values) words += name + " ";
  return CLI::Validator(replace, "", words);
}

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

#endif  // UTLZ_TOOLS_UTLZ_OPTION_CHECKS_H_
