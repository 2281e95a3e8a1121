// The waterfall's slices that a comparison treats each in its own way, as
// collector/summary/waterfall.h names them.
#ifndef UTLZ_TOOLS_COMPARE_SLICE_NAMES_H_
#define UTLZ_TOOLS_COMPARE_SLICE_NAMES_H_

namespace utlz {

// The waterfall's slices that belong to no step.
inline constexpr char kSlowdownSlice[] = "waiting for tracing itself";
inline constexpr const char* kSlicesOutsideSteps[] = {"before the first and after the last work",
                                                      "start-up: before the first steady step",
                                                      "after the last step",
                                                      "pauses between steps",
                                                      "not traced",
                                                      kSlowdownSlice};

// Those of what bounds a kernel.
inline constexpr const char* kSlicesOfBounds[] = {
    "memory-bound kernels", "latency-bound kernels, low occupancy",
    "compute-bound kernels below their roof", "kernels bound by neither",
    "kernels without counters"};
// What else only counters tell.
inline constexpr const char* kSlicesOfWork[] = {"tail waves", "arithmetic outside the tensor cores",
                                                "clock below maximum", "useful: FLOPs at peak"};

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_SLICE_NAMES_H_
