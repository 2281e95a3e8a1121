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

// Fills Summary.waterfall; run and devices must be filled already.
void SummarizeWaterfall(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_WATERFALL_H_
