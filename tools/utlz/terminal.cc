#include "tools/utlz/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace utlz {

bool UseColor(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* terminal = std::getenv("TERM");
  return isatty(fd) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace utlz
