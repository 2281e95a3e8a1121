// Names the layer and the line in findings, where stacks of launches were recorded: of the kernel
// that a finding speaks of, and of what the GPU waits for.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_FINDING_OWNERS_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_FINDING_OWNERS_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Adds to the evidence of the summary's findings; leaves it where nothing is known.
void NameOwnersInFindings(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_FINDING_OWNERS_H_
