#include "collector/analysis/kind_of_program.h"

#include <algorithm>

#include "collector/kernel_names/kernel_class.h"

namespace utlz {

bool Learns(const RunState& state, const Analysis& analysis) {
  return std::any_of(analysis.rows.begin(), analysis.rows.end(), [&](const KernelRow& row) {
    return IsTrainingKernel(state.kernels[row.kernel].mangled_name);
  });
}

bool GeneratesTokens(const StepsSummary& steps) {
  return std::any_of(steps.levels().begin(), steps.levels().end(),
                     [](const StepLevel& level) { return level.has_prefill_time_ns(); });
}

}  // namespace utlz
