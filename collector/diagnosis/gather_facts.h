// Gathers the facts of all topics.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_GATHER_FACTS_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_GATHER_FACTS_H_

#include "collector/diagnosis/finding_facts.h"

namespace utlz {

FindingFacts GatherFacts(const RunState& state, const Analysis& analysis, const Summary& summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_GATHER_FACTS_H_
