// The roll-up of kernels by the kind of work that they do.
#ifndef UTLZ_COLLECTOR_SUMMARY_FAMILY_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_FAMILY_SUMMARY_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Fills Summary.families, of the steady part alone, most time first; steps and window must be
// filled already.
void SummarizeFamilies(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_FAMILY_SUMMARY_H_
