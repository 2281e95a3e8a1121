// Of a run whose kernels have no counters, or hardly any: what its report rests on, what nobody can
// say without them, and the one thing to type that would change it. The first screen says so.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_WHAT_IS_KNOWN_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_WHAT_IS_KNOWN_H_

#include <string>

#include "proto/summary.pb.h"

namespace utlz {

// Fills Summary.known, not_known and next_command; phases and capture must be filled before.
// `counters`: as the run was asked for (RunStart.counters).
void SayWhatIsKnown(const std::string& counters, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_WHAT_IS_KNOWN_H_
