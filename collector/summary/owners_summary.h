// Whose the work is: Summary.owners. Operations alone where no launch has a stack.
#ifndef UTLZ_COLLECTOR_SUMMARY_OWNERS_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_OWNERS_SUMMARY_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// After the summary's devices: their idle time is divided.
void SummarizeOwners(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_OWNERS_SUMMARY_H_
