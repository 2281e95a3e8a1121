// For runs whose kernels have no counters, or hardly any. Says on the report's first screen what
// the report rests on, what cannot be known without counters, and which command would bring them.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_WHAT_IS_KNOWN_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_WHAT_IS_KNOWN_H_

#include <string>

#include "proto/summary.pb.h"

namespace utlz {

// Fills Summary.known, not_known and next_command; phases and capture must be filled before.
// `counters`: the mode that the user asked for (RunStart.counters).
void SayWhatIsKnown(const std::string& counters, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_WHAT_IS_KNOWN_H_
