// GPU memory over the run: the most that was reserved, what is left, and whether it grows.
#ifndef UTLZ_COLLECTOR_SUMMARY_MEMORY_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_MEMORY_SUMMARY_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Fills Summary.memory where memory was read; steps must be filled already.
void SummarizeMemory(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_MEMORY_SUMMARY_H_
