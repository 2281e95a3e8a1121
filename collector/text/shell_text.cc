#include "collector/text/shell_text.h"

#include <algorithm>
#include <cctype>

namespace utlz {
namespace {

bool IsHarmless(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 ||
         std::string_view("_./:=@%+,-").find(character) != std::string_view::npos;
}

}  // namespace

std::string InSingleQuotes(std::string_view text) {
  std::string quoted;
  for (const char character : text) {
    quoted += character == '\'' ? std::string("'\\''") : std::string(1, character);
  }
  return quoted;
}

std::string ShellWord(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), IsHarmless)) return std::string(word);
  return "'" + InSingleQuotes(word) + "'";
}

}  // namespace utlz
