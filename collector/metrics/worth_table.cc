#include "collector/metrics/worth_table.h"

#include <span>

#include "collector/analysis/reference_peak.h"
#include "collector/kernel_names/kernel_class.h"

namespace utlz {

void WorthTable::Renew(const RunState& state, const Analysis& analysis) {
  worths_.assign(state.kernels.kernels().size(), UnknownWorth());
  const std::span<const KernelRow> rows(analysis.rows);
  for (size_t begin = 0; begin < rows.size();) {
    const uint32_t kernel = rows[begin].kernel;
    size_t end = begin + 1;
    while (end < rows.size() && rows[end].kernel == kernel) ++end;
    const uint32_t device = state.kernels[kernel].device;
    worths_[kernel] = WorthOf(rows.subspan(begin, end - begin), analysis.devices[device].ceilings,
                              {.matrix = IsMatrixKernel(state.kernels[kernel].mangled_name),
                               .shared = state.devices[device].other_processes > 0});
    begin = end;
  }
  renewed_ns_ = state.NewestNs();
  peak_of_run_ = PeakOfRun(state, analysis).flops_per_second;
}

}  // namespace utlz
