// What the terminal at a file descriptor can show.
#ifndef UTLZ_TOOLS_UTLZ_TERMINAL_H_
#define UTLZ_TOOLS_UTLZ_TERMINAL_H_

#include <cstdint>

namespace utlz {

// A terminal that is not "dumb", and NO_COLOR (no-color.org) is not set.
bool UseColor(int fd);

// Text reports are made for so many columns, and for more.
inline constexpr uint32_t kFewestColumns = 80;
inline constexpr uint32_t kMostColumns = 1000;
// Those of a terminal, in these bounds; `others` where there is none.
uint32_t ColumnsFor(int fd, uint32_t others);

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_TERMINAL_H_
