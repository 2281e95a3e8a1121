// Refuses JSON that nests deeply before it is parsed. The JSON library copies and deletes a value
// by functions that call themselves once a level, so that deep values overflow the stack.
#ifndef UTLZ_TOOLS_JSON_NESTING_H_
#define UTLZ_TOOLS_JSON_NESTING_H_

#include <string_view>

namespace utlz {

inline constexpr int kMostJsonLevels = 100;

// Whether brackets nest more than kMostJsonLevels deep. The text need not be valid JSON.
bool NestsTooDeeply(std::string_view json);

}  // namespace utlz

#endif  // UTLZ_TOOLS_JSON_NESTING_H_
