#include "tools/utlz/command_description.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tools/utlz/option_checks.h"

namespace utlz {
namespace {

std::vector<std::string> WordsOf(CLI::Option& option) {
  try {
    absl::string_view name = option.get_validator(0)->get_name();
    if (!absl::ConsumePrefix(&name, kChoicePrefix)) return {};
    return absl::StrSplit(name, ' ', absl::SkipEmpty());
  } catch (const CLI::OptionNotFound&) {
    return {};  // it has no validator
  }
}

OptionDescription Describe(CLI::Option& option) {
  OptionDescription description;
  description.text = option.get_description();
  for (const std::string& name : option.get_snames()) description.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) description.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) {
    description.value =
        description.is_positional() ? option.get_name(true) : option.get_type_name();
    description.words = WordsOf(option);
  }
  return description;
}

std::string UsageOf(const CLI::App& command) {
  constexpr absl::string_view kLead = "Usage: ";
  const std::string help = command.help("utlz");
  for (absl::string_view line : absl::StrSplit(help, '\n')) {
    if (absl::ConsumePrefix(&line, kLead)) return std::string(absl::StripAsciiWhitespace(line));
  }
  return "utlz " + command.get_name();
}

}  // namespace

std::vector<CommandDescription> DescribeCommands(CLI::App& program) {
  std::vector<CommandDescription> commands;
  for (CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;  // hidden
    CommandDescription& description = commands.emplace_back();
    description.name = command->get_name();
    description.text = command->get_description();
    description.usage = UsageOf(*command);
    description.footer = command->get_footer();
    for (CLI::Option* option : command->get_options()) {
      if (!option->get_group().empty()) description.options.push_back(Describe(*option));
    }
  }
  return commands;
}

}  // namespace utlz
