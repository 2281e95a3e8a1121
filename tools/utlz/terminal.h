// What the terminal at a file descriptor can show.
#ifndef UTLZ_TOOLS_UTLZ_TERMINAL_H_
#define UTLZ_TOOLS_UTLZ_TERMINAL_H_

namespace utlz {

// A terminal that is not "dumb", and NO_COLOR (no-color.org) is not set.
bool UseColor(int fd);

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_TERMINAL_H_
