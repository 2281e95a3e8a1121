#include "tools/utlz/command_split.h"

namespace utlz {
namespace {

// True where the word after `word` is its value: not for flags, nor for --name=value and -nvalue.
bool TakesNextWord(const CLI::App& subcommand, const std::string& word) {
  const CLI::Option* option = subcommand.get_option_no_throw(word);
  return option != nullptr && option->get_items_expected_max() > 0;
}

}  // namespace

CommandSplit SplitCommand(const CLI::App& subcommand, const std::vector<std::string>& arguments) {
  CommandSplit split;
  size_t i = 0;
  if (i < arguments.size()) split.own.push_back(arguments[i++]);
  while (i < arguments.size() && arguments[i].size() > 1 && arguments[i][0] == '-') {
    const std::string& word = arguments[i++];
    if (word == "--") break;
    split.own.push_back(word);
    if (TakesNextWord(subcommand, word) && i < arguments.size())
      split.own.push_back(arguments[i++]);
  }
  split.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
  return split;
}

}  // namespace utlz
