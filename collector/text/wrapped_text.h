// Text broken at spaces into lines for a terminal.
#ifndef UTLZ_COLLECTOR_TEXT_WRAPPED_TEXT_H_
#define UTLZ_COLLECTOR_TEXT_WRAPPED_TEXT_H_

#include <cstddef>
#include <string>

namespace utlz {

// Lines of at most `columns`: the first indented by `first`, the others by `indent`. A word that is
// longer is cut in its middle.
std::string Wrap(const std::string& text, size_t columns, size_t indent, size_t first = 0);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TEXT_WRAPPED_TEXT_H_
