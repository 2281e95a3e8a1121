// The waterfall's slices on both sides of a comparison. Pure, thread-safe.
#ifndef UTLZ_TOOLS_COMPARE_SLICE_CHANGES_H_
#define UTLZ_TOOLS_COMPARE_SLICE_CHANGES_H_

#include <vector>

#include "tools/compare/compare_input.h"
#include "tools/compare/difference.h"

namespace utlz {

std::vector<SliceChange> CompareSlices(const CompareInput& input, bool per_step);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_SLICE_CHANGES_H_
