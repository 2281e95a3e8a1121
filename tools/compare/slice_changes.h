// The waterfall's slices on both sides of a comparison. Pure, thread-safe.
#ifndef UTLZ_TOOLS_COMPARE_SLICE_CHANGES_H_
#define UTLZ_TOOLS_COMPARE_SLICE_CHANGES_H_

#include <vector>

#include "tools/compare/difference.h"
#include "tools/compare/sides.h"

namespace utlz {

// As collector/model/waterfall.h names them: by what bounds a kernel.
inline constexpr const char* kSlicesOfBounds[] = {
    "memory-bound kernels", "latency-bound kernels, low occupancy",
    "compute-bound kernels below their roof", "kernels bound by neither",
    "kernels without counters"};
// What else only counters tell.
inline constexpr const char* kSlicesOfWork[] = {"tail waves", "arithmetic outside the tensor cores",
                                                "clock below maximum", "useful: FLOPs at peak"};

std::vector<SliceChange> CompareSlices(const Sides& sides, bool per_step);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_SLICE_CHANGES_H_
