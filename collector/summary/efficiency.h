// What the run made of the hardware: HFU and MFU, what lies between them, and what HFU could have
// been. Formulas: docs/reference/report_json.md.
#ifndef UTLZ_COLLECTOR_SUMMARY_EFFICIENCY_H_
#define UTLZ_COLLECTOR_SUMMARY_EFFICIENCY_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Names of the parts of the gap, which tests look for.
inline constexpr char kGapPadding[] = "padding";
inline constexpr char kGapAttention[] = "attention beyond the model's";
inline constexpr char kGapMore[] = "recomputation, or work outside the model";
inline constexpr char kGapFewer[] = "not executed, or not counted";

// Devices, kernels and steps must be filled already.
void SummarizeEfficiency(const RunState& state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_EFFICIENCY_H_
