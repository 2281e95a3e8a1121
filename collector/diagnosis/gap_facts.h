// Idle time by cause, and the places of the program at which it stands.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_GAP_FACTS_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_GAP_FACTS_H_

#include "collector/diagnosis/finding_facts.h"

namespace utlz {

// `step_ns`: of the mean step; 0 where there are none.
GapFacts GatherGaps(const RunState& state, const Analysis& analysis, double step_ns);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_GAP_FACTS_H_
