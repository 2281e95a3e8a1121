// Whether a text of JSON nests so deeply that values of it could overflow the stack: copies and
// deletions of such values call themselves for each level.
#ifndef UTLZ_TOOLS_JSON_NESTING_H_
#define UTLZ_TOOLS_JSON_NESTING_H_

#include <string_view>

namespace utlz {

inline constexpr int kMostJsonLevels = 100;

// Of any text, JSON or not.
bool NestsTooDeeply(std::string_view json);

}  // namespace utlz

#endif  // UTLZ_TOOLS_JSON_NESTING_H_
