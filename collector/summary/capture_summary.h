// How good the capture is: counter source, coverage, drops, samples, cost.
#ifndef UTLZ_COLLECTOR_SUMMARY_CAPTURE_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_CAPTURE_SUMMARY_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Fills Summary.capture, and in the devices the clocks around their work; the devices and kernels
// of `summary` must be filled already.
void SummarizeCapture(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_CAPTURE_SUMMARY_H_
