// The step between what was recorded and what is shown. Made anew for each summary. Solves the
// attribution of every device that was sampled.
#ifndef UTLZ_COLLECTOR_ANALYSIS_ANALYZE_H_
#define UTLZ_COLLECTOR_ANALYSIS_ANALYZE_H_

#include <optional>

#include "collector/analysis/analysis.h"

namespace utlz {

// `threads`: so many at once, where GPUs and kernels are several.
Analysis Analyze(const RunState& state, const std::optional<StepsSpan>& steps,
                 unsigned threads = 1);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ANALYSIS_ANALYZE_H_
