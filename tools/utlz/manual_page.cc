#include "tools/utlz/manual_page.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace utlz {
namespace {

// As it stands: no sign of the text is a command of roff.
std::string Plain(const std::string& text) {
  std::string plain = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  return absl::StartsWith(plain, ".") || absl::StartsWith(plain, "'") ? "\\&" + plain : plain;
}

std::string Bold(const std::string& text) { return absl::StrCat("\\fB", Plain(text), "\\fR"); }

std::string Head(const std::string& name, const std::string& text, const std::string& synopsis) {
  return absl::StrCat(".TH ", absl::AsciiStrToUpper(name), " 1 \"\" \"utlz ", UTLZ_VERSION,
                      "\" \"utlz\"\n.SH NAME\n", Plain(name), " \\- ", Plain(text),
                      "\n.SH SYNOPSIS\n", Bold(synopsis), "\n");
}

std::string Entry(const std::string& head, const std::string& text) {
  return absl::StrCat(".TP\n", head, "\n", Plain(text), "\n");
}

std::string OptionEntry(const OptionDescription& option) {
  const std::string value =
      option.value.empty() ? "" : absl::StrCat("\\fI", Plain(option.value), "\\fR");
  if (option.is_positional()) return Entry(value, option.text);
  const std::string names =
      absl::StrJoin(option.names, ", ",
                    [](std::string* out, const std::string& name) { out->append(Bold(name)); });
  return Entry(absl::StrCat(names, value.empty() ? "" : " ", value), option.text);
}

}  // namespace

std::string ProgramPage(const std::string& text, const std::vector<CommandDescription>& commands) {
  // The line begins with the name as it is.
  const std::string line(absl::StripPrefix(text, "utlz: "));
  std::string page = absl::StrCat(Head("utlz", line, "utlz COMMAND [OPTIONS]"), ".SH COMMANDS\n");
  std::vector<std::string> others;
  for (const CommandDescription& command : commands) {
    absl::StrAppend(&page, Entry(Bold(command.name), command.text));
    others.push_back(Bold(absl::StrCat("utlz-", command.name)) + "(1)");
  }
  return absl::StrCat(page, ".SH SEE ALSO\n", absl::StrJoin(others, ",\n"), "\n");
}

std::string CommandPage(const CommandDescription& command) {
  std::string page = Head(absl::StrCat("utlz-", command.name), command.text, command.usage);
  absl::StrAppend(&page, ".SH OPTIONS\n");
  for (const OptionDescription& option : command.options) {
    absl::StrAppend(&page, OptionEntry(option));
  }
  if (!command.footer.empty()) absl::StrAppend(&page, ".SH NOTES\n", Plain(command.footer), "\n");
  return absl::StrCat(page, ".SH SEE ALSO\n", Bold("utlz"), "(1)\n");
}

}  // namespace utlz
