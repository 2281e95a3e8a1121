// The layers of a model in a sequence: a part that repeats (repeated_part.h), with the first and
// the last repetition where these differ a little, since they were fused with what stands beside
// them.
#ifndef UTLZ_COLLECTOR_OWNERS_FOLD_LAYERS_H_
#define UTLZ_COLLECTOR_OWNERS_FOLD_LAYERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace utlz {

inline constexpr uint32_t kNoPosition = UINT32_MAX;

struct FoldedLayers {
  size_t begin = 0;               // index of the first item of the first repetition
  size_t times = 0;               // how often the part stands there
  std::vector<uint32_t> pattern;  // the items of one repetition
  // Of each item from `begin` to the end of the last repetition: its index in `pattern`;
  // kNoPosition where the first or the last repetition has an item that the others lack.
  std::vector<uint32_t> positions;

  size_t end() const { return begin + positions.size(); }
};

// Nothing where no part repeats. The first and the last repetition have three quarters of the
// part's items at least, in order. Where repetitions begin is chosen so that there are most of
// them, and most items in them. Takes from `steps`; with none left it finds nothing, or only
// repetitions that are all equal.
std::optional<FoldedLayers> FoldLayers(const std::vector<uint32_t>& items, size_t* steps);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_OWNERS_FOLD_LAYERS_H_
