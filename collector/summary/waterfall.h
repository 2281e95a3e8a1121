// The waterfall of peak: where the time of all devices goes, from nothing at all down to useful
// arithmetic at peak. Every moment is in exactly one slice, so slices sum to wall × devices.
//
//   before and after the steady part, pauses in it, not traced, what tracing added, idle by cause,
//   copies while no kernel ran, communication while no other kernel ran, then the time of compute
//   kernels: of each kernel, what its tensor FLOPs need at the peak of the highest clock is useful,
//   what they need more at the clock that was seen is lost to the clock, other arithmetic is a
//   slice of its own, and of the rest the share of the last wave is its tail and what remains
//   belongs to what bounds the kernel.
#ifndef UTLZ_COLLECTOR_SUMMARY_WATERFALL_H_
#define UTLZ_COLLECTOR_SUMMARY_WATERFALL_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Names of slices, which rules and tests look for.
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

// Fills Summary.waterfall; run and devices must be filled already.
void SummarizeWaterfall(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_WATERFALL_H_
