// Who waits for whom, as far as no kernel hides it.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_COMMUNICATION_FACTS_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_COMMUNICATION_FACTS_H_

#include "collector/diagnosis/finding_facts.h"

namespace utlz {

CommunicationFacts GatherCommunication(const RunState& state, const Analysis& analysis,
                                       const Summary& summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_COMMUNICATION_FACTS_H_
