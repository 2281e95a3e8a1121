// What part of the run the report's shares and findings speak of.
#ifndef UTLZ_COLLECTOR_MODEL_WINDOW_SUMMARY_H_
#define UTLZ_COLLECTOR_MODEL_WINDOW_SUMMARY_H_

#include "collector/model/analysis.h"

namespace utlz {

// Fills Summary.window where some device worked; run must be filled already.
void SummarizeWindow(const ModelState& model, const Analysis& analysis, Summary* summary);

// The time of a usual step: the mean, or the median where pauses lie between steps; 0 where the
// window is not of steps. Summary.window and .steps must be filled already.
double UsualStepNs(const Summary& summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_WINDOW_SUMMARY_H_
