// Names of the waterfall's slices (WaterfallSlice.name): what the collector writes, and what rules,
// reports, comparisons and tests look for.
#ifndef UTLZ_COLLECTOR_WATERFALL_SLICES_H_
#define UTLZ_COLLECTOR_WATERFALL_SLICES_H_

namespace utlz {

inline constexpr char kSliceOutside[] = "before the first and after the last work";
inline constexpr char kSliceStartUp[] = "start-up: before the first steady step";
inline constexpr char kSliceEnd[] = "after the last step";
inline constexpr char kSlicePauses[] = "pauses between steps";
inline constexpr char kSliceUntraced[] = "not traced";
inline constexpr char kSliceSlowdown[] = "waiting for tracing itself";
inline constexpr char kSliceIdleTurnaround[] = "idle: from kernel to kernel";
inline constexpr char kSliceIdleLaunch[] = "idle: launch-bound";
inline constexpr char kSliceIdleReadback[] = "idle: after reading a result back";
inline constexpr char kSliceIdleInput[] = "idle: before an upload of input";
inline constexpr char kSliceIdleOther[] = "idle: other";
inline constexpr char kSliceCopies[] = "copies while no kernel ran";
inline constexpr char kSliceCommunication[] = "exposed communication";
inline constexpr char kSliceMemory[] = "memory-bound kernels";
inline constexpr char kSliceLatency[] = "latency-bound kernels, low occupancy";
inline constexpr char kSliceCompute[] = "compute-bound kernels below their roof";
inline constexpr char kSliceMixed[] = "kernels bound by neither";
inline constexpr char kSliceUnknown[] = "kernels without counters";
inline constexpr char kSliceTail[] = "tail waves";
inline constexpr char kSliceOtherCompute[] = "arithmetic outside the tensor cores";
inline constexpr char kSliceClock[] = "clock below maximum";
inline constexpr char kSliceUseful[] = "useful: FLOPs at peak";

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_WATERFALL_SLICES_H_
