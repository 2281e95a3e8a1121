// The one sentence that a report says of a run.
#ifndef UTLZ_COLLECTOR_DIAGNOSIS_VERDICT_H_
#define UTLZ_COLLECTOR_DIAGNOSIS_VERDICT_H_

#include <string>

#include "collector/diagnosis/finding_facts.h"

namespace utlz {

// The summary's findings must be filled already.
std::string Verdict(const FindingFacts& facts);

// Of a run of whose work, by counters, this share is in no record: nothing can be diagnosed.
std::string VerdictOfUnrecordedWork(double share);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DIAGNOSIS_VERDICT_H_
