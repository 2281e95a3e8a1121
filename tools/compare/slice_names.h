// The waterfall's slices that a comparison treats each in its own way.
#ifndef UTLZ_TOOLS_COMPARE_SLICE_NAMES_H_
#define UTLZ_TOOLS_COMPARE_SLICE_NAMES_H_

#include "collector/waterfall_slices.h"

namespace utlz {

// Those that belong to no step.
inline constexpr const char* kSlicesOutsideSteps[] = {
    kSliceOutside, kSliceStartUp, kSliceEnd, kSlicePauses, kSliceUntraced, kSliceSlowdown};
// Those of what bounds a kernel.
inline constexpr const char* kSlicesOfBounds[] = {kSliceMemory, kSliceLatency, kSliceCompute,
                                                  kSliceMixed, kSliceUnknown};
// Others that only counters show.
inline constexpr const char* kSlicesOfWork[] = {kSliceTail, kSliceOtherCompute, kSliceClock,
                                                kSliceUseful};

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_SLICE_NAMES_H_
