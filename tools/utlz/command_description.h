// The commands and their options as plain text, taken from the command line's own definition: what
// --help shows, completions offer and manual pages explain has one source.
#ifndef UTLZ_TOOLS_UTLZ_COMMAND_DESCRIPTION_H_
#define UTLZ_TOOLS_UTLZ_COMMAND_DESCRIPTION_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace utlz {

struct OptionDescription {
  std::vector<std::string> names;  // with their dashes; none for a positional one
  std::string value;               // "FILE", "WORD", …; empty for a flag
  std::vector<std::string> words;  // all values that it can have, where they are few
  std::string text;

  bool is_positional() const { return names.empty(); }
};

struct CommandDescription {
  std::string name;
  std::string text;
  std::string usage;  // without "Usage: "
  std::string footer;
  std::vector<OptionDescription> options;  // positional ones included
};

// The commands for people, in the order of --help.
std::vector<CommandDescription> DescribeCommands(CLI::App& program);

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_COMMAND_DESCRIPTION_H_
