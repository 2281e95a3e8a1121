// The kernel table of the summary. Formulas: docs/reference/report_json.md.
#ifndef UTLZ_COLLECTOR_SUMMARY_KERNEL_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_KERNEL_SUMMARY_H_

#include <cstddef>
#include <cstdint>

#include "collector/analysis/analysis.h"

namespace utlz {

// KernelSummary.id of a row of the analysis, by its index.
constexpr uint32_t KernelIdOf(size_t row) { return static_cast<uint32_t>(row) + 1; }

// Fills Summary.kernels from the rows of `analysis`: estimated savings first, then time.
void SummarizeKernels(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_KERNEL_SUMMARY_H_
