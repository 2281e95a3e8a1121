// What part of the run the report's shares and findings speak of.
#ifndef UTLZ_COLLECTOR_SUMMARY_STEADY_STATE_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_STEADY_STATE_SUMMARY_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Fills Summary.steady_state where some device worked; run must be filled already.
void SummarizeSteadyState(const RunState& state, const Analysis& analysis, Summary* summary);

// What the shares of Summary.steady_state are put per step with: its mean step; 0 where the window
// is not of steps. Summary.steady_state and .steps must be filled already.
double MeanStepNs(const Summary& summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_STEADY_STATE_SUMMARY_H_
