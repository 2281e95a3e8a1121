// An option whose value is one of a few words.
#ifndef UTLZ_TOOLS_UTLZ_CHOICE_H_
#define UTLZ_TOOLS_UTLZ_CHOICE_H_

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace utlz {

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

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_CHOICE_H_
