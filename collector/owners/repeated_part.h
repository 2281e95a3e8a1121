// A part of a sequence that repeats: the layers of a model among the kernels of one pass, between
// what comes before the first and after the last of them.
#ifndef UTLZ_COLLECTOR_OWNERS_REPEATED_PART_H_
#define UTLZ_COLLECTOR_OWNERS_REPEATED_PART_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace utlz {

struct RepeatedPart {
  size_t begin = 0;   // index of its first item
  size_t period = 0;  // items of one repetition
  size_t times = 0;   // how often it stands there, one after the other
};

// Parts repeat at least so often, are of so many different items, and take half of the sequence.
inline constexpr size_t kFewestRepetitions = 3;
inline constexpr size_t kFewestItemsOfPart = 2;

// The part that takes most of the sequence; of several the shortest. Compares items at most `steps`
// times, which it takes from there: longer periods are not looked for then.
std::optional<RepeatedPart> FindRepeatedPart(const std::vector<uint32_t>& items, size_t* steps);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_OWNERS_REPEATED_PART_H_
