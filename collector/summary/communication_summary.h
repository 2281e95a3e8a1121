// Communication: kernels by collective, exposed or hidden, and who comes late to it.
#ifndef UTLZ_COLLECTOR_SUMMARY_COMMUNICATION_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_COMMUNICATION_SUMMARY_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Fills Summary.communication, and lateness in Summary.processes, which must be filled already.
void SummarizeCommunication(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_COMMUNICATION_SUMMARY_H_
