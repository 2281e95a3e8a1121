// What the run made of the hardware: HFU and MFU, what lies between them, and what HFU could have
// been. Formulas: docs/reference/report_json.md.
#ifndef UTLZ_COLLECTOR_SUMMARY_EFFICIENCY_H_
#define UTLZ_COLLECTOR_SUMMARY_EFFICIENCY_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Devices, kernels and steps must be filled already.
void SummarizeEfficiency(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_EFFICIENCY_H_
