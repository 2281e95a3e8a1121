// The kernel table of the summary. Formulas: docs/reference/report_json.md.
#ifndef UTLZ_COLLECTOR_SUMMARY_KERNEL_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_KERNEL_SUMMARY_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Fills Summary.kernels from the rows of `analysis`: estimated savings first, then time. A row's
// KernelSummary.id is its index in `analysis.rows` + 1.
void SummarizeKernels(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_KERNEL_SUMMARY_H_
