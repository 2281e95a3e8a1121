// Words as a shell reads them. Pure, thread-safe.
#ifndef UTLZ_COLLECTOR_TEXT_SHELL_TEXT_H_
#define UTLZ_COLLECTOR_TEXT_SHELL_TEXT_H_

#include <string>
#include <string_view>

namespace utlz {

// `text` as it may stand between single quotes, in sh, bash and zsh.
std::string InSingleQuotes(std::string_view text);
// `word` as one word: in single quotes, unless it is of letters, digits and harmless signs alone.
std::string ShellWord(std::string_view word);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TEXT_SHELL_TEXT_H_
