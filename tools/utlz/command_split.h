// Where utlz's own options end and the command begins.
#ifndef UTLZ_TOOLS_UTLZ_COMMAND_SPLIT_H_
#define UTLZ_TOOLS_UTLZ_COMMAND_SPLIT_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace utlz {

struct CommandSplit {
  std::vector<std::string> own;      // up to and with the last of our options
  std::vector<std::string> command;  // what follows; a "--" between the two is dropped
};

// `arguments` begin with the subcommand's name. The command begins at the first word that is
// neither an option of `subcommand` nor the value of one.
CommandSplit SplitCommand(const CLI::App& subcommand, const std::vector<std::string>& arguments);

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_COMMAND_SPLIT_H_
