#include "tools/utlz/completion.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "collector/text/shell_text.h"

namespace utlz {
namespace {

constexpr char kRun[] = "run";

std::string NamesOf(const std::vector<CommandDescription>& commands) {
  return absl::StrJoin(commands, " ", [](std::string* out, const CommandDescription& command) {
    absl::StrAppend(out, command.name);
  });
}

std::string OptionNames(const CommandDescription& command, bool only_with_values) {
  std::vector<std::string> names;
  for (const OptionDescription& option : command.options) {
    if (only_with_values && option.value.empty()) continue;
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return absl::StrJoin(names, " ");
}

// A function of bash that prints something for a command, or for a command and an option.
std::string BashCases(const std::string& function, const std::string& cases) {
  return absl::StrCat(function, "() {\n  case \"$*\" in\n", cases, "  esac\n}\n");
}

std::string BashCase(const std::string& pattern, const std::string& words) {
  return absl::StrCat("    ", pattern, ") echo '", words, "' ;;\n");
}

constexpr char kBashFunction[] = R"bash(
# Whether the words before the current one hold the command that utlz run is to run.
_utlz_has_command() {
  local index=$1 options=" $(_utlz_value_options run) " word
  for ((; index < COMP_CWORD; ++index)); do
    word="${COMP_WORDS[index]}"
    if [[ $word == -- ]]; then return 0; fi
    if [[ $word == -* ]]; then
      # bash takes the = of --option=value for a word.
      if [[ ${COMP_WORDS[index + 1]} == '=' ]]; then ((index += 2)); continue; fi
      if [[ $options == *" $word "* ]]; then ((++index)); fi
      continue
    fi
    return 0
  done
  return 1
}

_utlz() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"
  local command first=1 words
  COMPREPLY=()
  case "${COMP_WORDS[0]##*/}" in
    utlz-run) command=run ;;
    utlz-attach) command=attach ;;
    *)
      if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "$(_utlz_commands) --help --version" -- "$current"))
        return
      fi
      command="${COMP_WORDS[1]}" first=2 ;;
  esac
  if [[ $command == run ]] && _utlz_has_command "$first"; then return; fi
  if [[ $previous == '=' ]]; then previous="${COMP_WORDS[COMP_CWORD - 2]}"; fi
  if [[ $current == '=' ]]; then current=''; fi
  words="$(_utlz_words "$command $previous")"
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$(_utlz_options "$command")" -- "$current"))
  elif [[ $command == run && " $(_utlz_value_options run) " != *" $previous "* ]]; then
    COMPREPLY=($(compgen -c -- "$current"))
  fi
}
complete -o default -F _utlz utlz utlz-run utlz-attach
)bash";

std::string ZshText(const std::string& text) {
  return InSingleQuotes(
      absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}}));
}

std::string ZshValue(const OptionDescription& option) {
  const std::string action = option.words.empty()
                                 ? (option.value == "FILE" ? "_files" : " ")
                                 : absl::StrCat("(", absl::StrJoin(option.words, " "), ")");
  return absl::StrCat(":", ZshText(option.value), ":", action);
}

std::string ZshFunction(const CommandDescription& command) {
  std::string text = absl::StrCat("_utlz_", command.name, "() {\n  _arguments -s \\\n");
  std::string positional = "*:file:_files";
  for (const OptionDescription& option : command.options) {
    if (option.is_positional() && !option.words.empty()) positional = "1" + ZshValue(option);
    for (const std::string& name : option.names) {
      const bool takes_value = !option.value.empty();
      const char* sign = !takes_value ? "" : absl::StartsWith(name, "--") ? "=" : "+";
      absl::StrAppend(&text, "    '", name, sign, "[", ZshText(option.text), "]",
                      takes_value ? ZshValue(option) : "", "' \\\n");
    }
  }
  if (command.name == kRun) positional = "*::command:_normal";
  return absl::StrCat(text, "    '", positional, "'\n}\n");
}

constexpr char kZshFunction[] = R"zsh(
_utlz() {
  case "$service" in
    utlz-run) _utlz_run; return ;;
    utlz-attach) _utlz_attach; return ;;
  esac
  if ((CURRENT == 2)); then _describe command _utlz_commands; return; fi
  local command=${words[2]}
  shift words
  ((CURRENT--))
  if (($+functions[_utlz_$command])); then "_utlz_$command"; fi
}
if [[ $funcstack[1] == _utlz ]]; then _utlz "$@"; else compdef _utlz utlz utlz-run utlz-attach; fi
)zsh";

std::string FishText(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}});
}

// `program` is utlz, then with the condition that the command was named; or the command's own name.
std::string FishOption(const std::string& program, const std::string& condition,
                       const OptionDescription& option) {
  std::string line = absl::StrCat("complete -c ", program, condition);
  for (const std::string& name : option.names) {
    const bool is_long = absl::StartsWith(name, "--");
    absl::StrAppend(&line, is_long ? " -l " : " -s ", name.substr(is_long ? 2 : 1));
  }
  if (!option.words.empty()) {
    absl::StrAppend(&line, option.is_positional() ? " -f" : " -x", " -a '",
                    absl::StrJoin(option.words, " "), "'");
  } else if (!option.value.empty()) {
    absl::StrAppend(&line, option.value == "FILE" ? " -r" : " -x");
  }
  return absl::StrCat(line, " -d '", FishText(option.text), "'\n");
}

std::string FishCommand(const std::string& program, const std::string& condition,
                        const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& option : command.options) {
    if (option.is_positional() && option.words.empty()) continue;
    absl::StrAppend(&text, FishOption(program, condition, option));
  }
  if (command.name == kRun) {
    absl::StrAppend(&text, "complete -c ", program, condition,
                    " -a '(__fish_complete_subcommand --fcs-skip=", program == "utlz" ? 2 : 1,
                    ")'\n");
  }
  return text;
}

}  // namespace

std::string BashCompletion(const std::vector<CommandDescription>& commands) {
  std::string options;
  std::string value_options;
  std::string words;
  for (const CommandDescription& command : commands) {
    absl::StrAppend(&options, BashCase(command.name, OptionNames(command, false)));
    absl::StrAppend(&value_options, BashCase(command.name, OptionNames(command, true)));
    for (const OptionDescription& option : command.options) {
      if (option.words.empty()) continue;
      const std::string choices = absl::StrJoin(option.words, " ");
      for (const std::string& name : option.names) {
        absl::StrAppend(&words, BashCase(absl::StrCat("'", command.name, " ", name, "'"), choices));
      }
      if (option.is_positional()) {
        absl::StrAppend(&words,
                        BashCase(absl::StrCat("'", command.name, " ", command.name, "'"), choices));
      }
    }
  }
  return absl::StrCat(
      "# Completes utlz, utlz-run and utlz-attach in bash.\n_utlz_commands() { echo '",
      NamesOf(commands), "'; }\n", BashCases("_utlz_options", options),
      BashCases("_utlz_value_options", value_options), BashCases("_utlz_words", words),
      kBashFunction);
}

std::string ZshCompletion(const std::vector<CommandDescription>& commands) {
  std::string text = "#compdef utlz utlz-run utlz-attach\n_utlz_commands=(\n";
  for (const CommandDescription& command : commands) {
    absl::StrAppend(&text, "  '", command.name, ":", ZshText(command.text), "'\n");
  }
  absl::StrAppend(&text, ")\n");
  for (const CommandDescription& command : commands) absl::StrAppend(&text, ZshFunction(command));
  return text + kZshFunction;
}

std::string FishCompletion(const std::vector<CommandDescription>& commands) {
  std::string text = "# Completes utlz, utlz-run and utlz-attach in fish.\n";
  for (const CommandDescription& command : commands) {
    absl::StrAppend(&text, "complete -c utlz -n __fish_use_subcommand -f -a ", command.name,
                    " -d '", FishText(command.text), "'\n");
  }
  for (const CommandDescription& command : commands) {
    absl::StrAppend(
        &text,
        FishCommand("utlz", absl::StrCat(" -n '__fish_seen_subcommand_from ", command.name, "'"),
                    command));
    if (command.name == kRun || command.name == "attach") {
      absl::StrAppend(&text, FishCommand("utlz-" + command.name, "", command));
    }
  }
  return text;
}

}  // namespace utlz
